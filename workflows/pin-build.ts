import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { buildQueue } from '../src/domain/messages/batch-id.ts';

/** The first line of a workflow bundle sets it (src/app/worker/workflow-bundle.ts). Bundles of tests may lack it. */
declare const LOTE_BUILD: string | undefined;

/**
 * Pins a run to the build of the worker that takes it. A run that was started on the installation's queue continues as
 * a new run on the queue of that build, which only its workers poll. Its children inherit that queue. Call it after the
 * handlers are registered; `args` returns the inputs of the new run.
 */
export async function pinToBuild(args: () => readonly unknown[]): Promise<void> {
  const { taskQueue, workflowType } = workflowInfo();
  const own = typeof LOTE_BUILD === 'undefined' ? taskQueue : buildQueue(taskQueue, LOTE_BUILD);
  if (taskQueue === own) return;
  // An update may have come with the start.
  await condition(allHandlersFinished);
  await makeContinueAsNewFunc({ workflowType, taskQueue: own })(...args());
}
