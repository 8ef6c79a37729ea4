import { isGrpcServiceError, WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';

const PATIENCE_MS = 30_000;
/** Codes of gRPC. */
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;

/**
 * What the Temporal server answers to somebody who waits at a page. `attempted` begins the sentence of the error.
 * @throws LoteError `temporal-unavailable` where it has not answered for 30 s (`patienceMs`); else what `call` throws
 */
export async function answeredCall<Answer>(
  client: Client,
  attempted: string,
  call: () => Promise<Answer>,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  try {
    return await client.withDeadline(Date.now() + patienceMs, call);
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    throw new LoteError(
      'temporal-unavailable',
      `${attempted}: the Temporal server must answer, and it has not. It may be done as soon as the server is back: look at the batch before you repeat it.`,
      { cause: error },
    );
  }
}

/** An update that timed out may have reached its server, which waits for a worker. */
function isUnanswered(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return false;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (isGrpcServiceError(cause)) {
      const code: number = cause.code;
      return code === DEADLINE_EXCEEDED || code === UNAVAILABLE;
    }
  return false;
}
