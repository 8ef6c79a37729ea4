import type { Client } from '@temporalio/client';
import { entryQueue } from '../../domain/messages/batch-id.ts';
import { LoteError } from '../../domain/errors.ts';

/** An installation, as a run knows it: one of several in a namespace has a task queue of its own. */
export interface OwnPlace {
  readonly client: Client;
  readonly taskQueue: string;
}

/**
 * Refuses a run that another installation works on, which shares the namespace and has the same file: what is done to it,
 * or learned from it, would be that of invoices which this installation has not read. Returns the run that has this id now.
 * @throws LoteError `ledger-foreign`; WorkflowNotFoundError when there is no such run
 */
export async function requireOwnRun(
  { client, taskQueue }: OwnPlace,
  workflowId: string,
  attempted: string,
): Promise<{ readonly workflowId: string; readonly runId: string }> {
  const run = await client.workflow.getHandle(workflowId).describe();
  if (entryQueue(run.taskQueue) === taskQueue) return { workflowId, runId: run.runId };
  throw new LoteError(
    'ledger-foreign',
    `${attempted}: its run must work on task queue ${taskQueue}, but ${workflowId} runs on ${run.taskQueue}. ` +
      'Nothing was sent or changed from here. Where this is the same installation, set the same LOTE_TASK_QUEUE. Otherwise try again when that run has ended, ' +
      `and give each installation a namespace of its own (TEMPORAL_NAMESPACE; now both have ${client.options.namespace}).`,
  );
}

/** Events of a run that no worker has ever taken up: started, and its first task scheduled. */
const UNTOUCHED_EVENTS = 2;

/**
 * What became of a run that was to be ended if no worker had taken it up. `ended`: none had, and it has done nothing. `left`: one had, or it was over
 * already; it stays as it is. `interrupted`: one took it up in this very moment, and it was ended all the same.
 */
export type UntouchedEnd = 'ended' | 'left' | 'interrupted';

/**
 * Ends a run that no worker has ever taken up. Temporal ends no run on a condition, so its history says afterwards whether that was still so.
 * @throws WorkflowNotFoundError when there is no such run, or it ended meanwhile
 */
export async function endUntouchedRun(client: Client, workflowId: string, reason: string): Promise<UntouchedEnd> {
  const { historyLength, status, runId } = await client.workflow.getHandle(workflowId).describe();
  if (status.name !== 'RUNNING' || historyLength > UNTOUCHED_EVENTS) return 'left';
  const run = client.workflow.getHandle(workflowId, runId);
  await run.terminate(reason);
  const { events } = await run.fetchHistory();
  // What a worker had only begun to answer has no effect: the answer comes too late.
  const isBegun = (events ?? []).some(({ workflowTaskCompletedEventAttributes: task }) => Boolean(task));
  return isBegun ? 'interrupted' : 'ended';
}
