import { WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import { answeredCall } from './answered-call.ts';

/** Longer than a batch stands still after its worker was killed. */
const PATIENCE_MS = 30_000;

/**
 * What an update of a running workflow answers. `attempted` begins the sentence of the error.
 * @throws LoteError `worker-missing` where no worker has answered for 30 s (`patienceMs`), `temporal-unavailable` where
 * the server cannot be reached; else what `update` throws
 */
export async function answeredUpdate<Answer>(
  client: Client,
  attempted: string,
  update: () => Promise<Answer>,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  try {
    return await answeredCall(client, attempted, update, patienceMs);
  } catch (error) {
    if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
    throw new LoteError(
      'worker-missing',
      `${attempted}: a worker must take it, and none has answered for ${patienceMs / 1_000} s. It may be done as soon as one does: start a worker, and look at the batch before you repeat it.`,
      { cause: error },
    );
  }
}
