import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import type { ActorInput, BatchProgress, ConfirmTotalInput, ReasonInput } from '../../contract/messages.ts';
import type { BatchWatch, ConsoleActions, Operation } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import { answerWithin } from '../temporal/answer-within.ts';
import { updateRefusal } from '../temporal/update-refusal.ts';

/** A page must not wait for a worker that is gone. */
const WATCH_PATIENCE_MS = 1_000;

/** An update of a batch's running workflow, as the Temporal UI would send it. */
export function createBatchOperator(client: Client): NonNullable<ConsoleActions['operate']> {
  return async (workflowId, operation, by) => {
    if (operation.kind === 'confirmTotal') {
      const { invoices, reason } = operation;
      return confirmBatchTotal(client, workflowId, { invoices, reason, who: by });
    }
    const handle = client.workflow.getHandle(workflowId);
    try {
      if (operation.kind === 'resume' || operation.kind === 'settleNow')
        return await handle.executeUpdate<string, [ActorInput]>(operation.kind, { args: [{ who: by }] });
      const { kind, reason } = operation;
      return await handle.executeUpdate<string, [ReasonInput]>(kind, { args: [{ reason, who: by }] });
    } catch (error) {
      throw translated(error, operation);
    }
  };
}

/** Lets a batch go that is held because of its total; the answer is a sentence. @throws LoteError `batch-not-found`, `usage` */
export async function confirmBatchTotal(client: Client, workflowId: string, input: ConfirmTotalInput): Promise<string> {
  const kind = 'confirmTotal';
  try {
    return await client.workflow
      .getHandle(workflowId)
      .executeUpdate<string, [ConfirmTotalInput]>(kind, { args: [input] });
  } catch (error) {
    throw translated(error, { kind });
  }
}

function translated(error: unknown, { kind }: Pick<Operation, 'kind'>): unknown {
  if (error instanceof WorkflowNotFoundError) {
    return new LoteError(
      'batch-not-found',
      `Operating a batch (${kind}): its workflow must be running, found it ended. Start the file again to go on with what is left of it.`,
      { cause: error },
    );
  }
  if (error instanceof WorkflowUpdateFailedError) return updateRefusal(`Operating a batch (${kind})`, error);
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
