import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';

/** An installation, as a run knows it: one of several in a namespace has a task queue of its own. */
export interface OwnPlace {
  readonly client: Client;
  readonly taskQueue: string;
}

/**
 * Refuses a run that another installation works on, which shares the namespace and has the same file: what is done to it,
 * or learned from it, would be that of invoices which nobody here has read. Returns the run that has this id now.
 * @throws LoteError `ledger-foreign`; WorkflowNotFoundError when there is no such run
 */
export async function requireOwnRun(
  { client, taskQueue }: OwnPlace,
  workflowId: string,
  attempted: string,
): Promise<{ readonly workflowId: string; readonly runId: string }> {
  const run = await client.workflow.getHandle(workflowId).describe();
  if (run.taskQueue === taskQueue) return { workflowId, runId: run.runId };
  throw new LoteError(
    'ledger-foreign',
    `${attempted}: its run must work on task queue ${taskQueue}, but ${workflowId} runs on ${run.taskQueue}. ` +
      'Nothing was sent or changed from here. Where this is the same installation, set the same LOTE_TASK_QUEUE. Otherwise try again when that run has ended, ' +
      `and give each installation a namespace of its own (TEMPORAL_NAMESPACE; now both have ${client.options.namespace}).`,
  );
}

/** Events of a run that no worker has ever taken up: started, and its first task scheduled. */
const UNTOUCHED_EVENTS = 2;

/** Ends a run that no worker has ever taken up, and that has therefore done nothing. False: one has, or it has ended; it stays as it is. */
export async function endUntouchedRun(client: Client, workflowId: string, reason: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  const { historyLength, status } = await handle.describe();
  if (status.name !== 'RUNNING' || historyLength > UNTOUCHED_EVENTS) return false;
  await handle.terminate(reason);
  return true;
}
