import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import type { ActorInput, BatchProgress, ConfirmTotalInput, ReasonInput } from '../../contract/messages.ts';
import type { BatchWatch, ConsoleActions, Operation } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import { answeredUpdate } from '../temporal/answered-update.ts';
import { requireOwnRun, type OwnPlace } from '../temporal/own-run.ts';
import { answerWithin } from '../temporal/answer-within.ts';
import { updateRefusal } from '../temporal/update-refusal.ts';

/** A page must not wait for a worker that is gone. */
const WATCH_PATIENCE_MS = 1_000;

/** An update of a batch's running workflow, as the Temporal UI would send it. `patienceMs`: see `answeredUpdate`. */
export function createBatchOperator(place: OwnPlace, patienceMs?: number): NonNullable<ConsoleActions['operate']> {
  return async (workflowId, operation, by) => {
    if (operation.kind === 'confirmTotal') {
      const { invoices, reason } = operation;
      return confirmBatchTotal(place, workflowId, { invoices, reason, who: by });
    }
    const handle = place.client.workflow.getHandle(workflowId);
    const { kind } = operation;
    const update = async (): Promise<string> => {
      await requireOwnRun(place, workflowId, attempted(operation));
      return kind === 'resume' || kind === 'settleNow'
        ? handle.executeUpdate<string, [ActorInput]>(kind, { args: [{ who: by }] })
        : handle.executeUpdate<string, [ReasonInput]>(kind, { args: [{ reason: operation.reason, who: by }] });
    };
    try {
      return await answeredUpdate(place.client, attempted(operation), update, patienceMs);
    } catch (error) {
      throw translated(error, operation);
    }
  };
}

/** Lets a batch go that is held because of its total; the answer is a sentence. @throws LoteError `batch-not-found`, `usage`, `ledger-foreign` */
export async function confirmBatchTotal(
  place: OwnPlace,
  workflowId: string,
  input: ConfirmTotalInput,
): Promise<string> {
  const kind = 'confirmTotal';
  const handle = place.client.workflow.getHandle(workflowId);
  try {
    return await answeredUpdate(place.client, attempted({ kind }), async () => {
      await requireOwnRun(place, workflowId, attempted({ kind }));
      return handle.executeUpdate<string, [ConfirmTotalInput]>(kind, { args: [input] });
    });
  } catch (error) {
    throw translated(error, { kind });
  }
}

function attempted({ kind }: Pick<Operation, 'kind'>): string {
  return `Operating a batch (${kind})`;
}

function translated(error: unknown, operation: Pick<Operation, 'kind'>): unknown {
  if (error instanceof WorkflowNotFoundError) {
    return new LoteError(
      'batch-not-found',
      `${attempted(operation)}: its workflow must be running, found it ended. Start the file again to go on with what is left of it.`,
      { cause: error },
    );
  }
  if (error instanceof WorkflowUpdateFailedError) return updateRefusal(attempted(operation), error);
  return error;
}

/** Where a running batch stands, as its workflow says; null when nothing runs or nobody answers for it. */
export function createBatchWatch(client: Client): (workflowId: string) => Promise<BatchWatch | null> {
  return async (workflowId) => {
    const asked = client.workflow
      .getHandle(workflowId)
      .query<BatchProgress>('progress')
      .catch(() => null);
    return answerWithin(WATCH_PATIENCE_MS, asked);
  };
}
