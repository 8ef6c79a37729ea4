import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { onEnd, type Call, type Interceptor } from './call-end.ts';
import { GRPC_STATUS } from './grpc-status.ts';

/** A describing takes milliseconds; one without an answer is lost, or the server is very busy: then it gets longer, up to what the server itself allows. */
const FIRST_TRY_MS = 5_000;
const LONGEST_TRY_MS = 30_000;
const PATIENCE_MS = 60_000;

/**
 * Repeats calls as the SDK does, and the describing of a schedule also where it gets no answer. A workflow of the server's own answers it, and a question
 * that this workflow's worker has lost is answered by nobody: the server gives up after 30 s, with a code that the SDK does not repeat.
 */
export function repeatedCalls(): Interceptor {
  const usual = defaultGrpcRetryOptions();
  const asTheSdk = makeGrpcRetryInterceptor(usual);
  return (options, next) => {
    if (!options.method_definition.path.endsWith('/DescribeSchedule')) return asTheSdk(options, next);
    const end = Math.min(Number(options.deadline ?? Number.POSITIVE_INFINITY), Date.now() + PATIENCE_MS);
    let tryMs = FIRST_TRY_MS;
    const repeat = makeGrpcRetryInterceptor({
      ...usual,
      retryableDecider: (attempt, status) =>
        usual.retryableDecider(attempt, status) ||
        (Number(status.code) === GRPC_STATUS.deadlineExceeded && Date.now() < end),
    });
    return repeat(options, (each) => {
      const call = givenUpAfter(tryMs, next(each));
      tryMs = Math.min(2 * tryMs, LONGEST_TRY_MS);
      return call;
    });
  };
}

/** Not by a deadline of gRPC, which the server knows, too: it cancels a moment before this side gives up, or after it. */
function givenUpAfter(tryMs: number, call: Call): ReturnType<Interceptor> {
  const timer = setTimeout(() => call.cancelWithStatus(GRPC_STATUS.deadlineExceeded, 'no answer'), tryMs);
  return onEnd(call, () => clearTimeout(timer));
}
