import {
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowUpdateFailedError,
} from '@temporalio/client';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import { GRPC_STATUS, temporalRefusal } from './temporal-failure.ts';

/** Longer than a batch stands still after its worker was killed. */
const PATIENCE_MS = 30_000;

/**
 * What the Temporal server answers while a person waits at a page. `attempted` begins the sentence of the error.
 * @throws LoteError `temporal-unavailable` where it has not answered for 30 s (`patienceMs`); else what `call` throws
 */
export async function answeredCall<Answer>(
  client: Client,
  attempted: string,
  call: () => Promise<Answer>,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  try {
    return await waitingFor('Temporal, or for a worker there', () =>
      client.withDeadline(Date.now() + patienceMs, call),
    );
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

/** An update that its workflow did not take; the validator's own sentence says what it wanted. */
export function updateRefusal(attempted: string, error: WorkflowUpdateFailedError): LoteError {
  const said = error.cause instanceof Error ? error.cause.message : 'no reason was given';
  return new LoteError('usage', `${attempted} was refused: ${said}`, { cause: error });
}
