import { WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import { GRPC_STATUS } from '../../runtime/temporal/grpc-status.ts';
import { temporalRefusal } from '../../runtime/temporal/temporal-failure.ts';

const PATIENCE_MS = 30_000;

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

/** A server that knows the deadline may cancel a moment before this side gives up. */
const UNANSWERED: readonly (number | undefined)[] = [
  GRPC_STATUS.cancelled,
  GRPC_STATUS.deadlineExceeded,
  GRPC_STATUS.unavailable,
];

/** An update that timed out may have reached its server, which waits for a worker. */
function isUnanswered(error: unknown): boolean {
  return (
    !(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) && UNANSWERED.includes(temporalRefusal(error)?.code)
  );
}
