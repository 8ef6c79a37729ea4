import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { ActorInput, BatchProgress } from '../../domain/messages/messages.ts';
import type { BatchWatch, Operation } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import { answeredUpdate, answerWithin } from '../temporal/calls.ts';
import { requireOwnRun, type OwnPlace } from '../temporal/batch-starter.ts';

/** A page must not wait for a worker that has gone. */
const WATCH_PATIENCE_MS = 1_000;

/** `by` is the name for the audit; if omitted, the audit has no name. */
export type BatchOperator = (workflowId: string, operation: Operation, by?: string) => Promise<string>;

/**
 * Sends updates to a batch's running workflow, as the Temporal UI would; the answer is a sentence. `patienceMs`: see `answeredUpdate`.
 * @throws LoteError `batch-not-found`, `usage`, `ledger-foreign`
 */
export function createBatchOperator(place: OwnPlace, patienceMs?: number): BatchOperator {
  return async (workflowId, { kind, ...input }, by) => {
    const attempted = `Operating a batch (${kind})`;
    const update = async (): Promise<string> => {
      await requireOwnRun(place, workflowId, attempted);
      const args: [ActorInput] = [{ ...input, ...(by !== undefined && { who: by }) }];
      return place.client.workflow.getHandle(workflowId).executeUpdate<string, [ActorInput]>(kind, { args });
    };
    try {
      return await answeredUpdate(place.client, attempted, update, patienceMs);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      throw new LoteError(
        'batch-not-found',
        `${attempted}: its workflow must be running, found it ended. Start the file again to go on with what is left of it.`,
        { cause: error },
      );
    }
  };
}

/** Queries the progress of a running batch; null when no workflow runs or no worker answers. */
export function createBatchWatch(client: Client): (workflowId: string) => Promise<BatchWatch | null> {
  return async (workflowId) => {
    const asked = client.workflow
      .getHandle(workflowId)
      .query<BatchProgress>('progress')
      .catch(() => null);
    return answerWithin(WATCH_PATIENCE_MS, asked);
  };
}
