import { getExternalWorkflowHandle, isCancellation, workflowInfo } from '@temporalio/workflow';
import { hasPatch } from './has-patch.ts';

/**
 * Signals the run that started this one, or the one in which that goes on: a run that was reset has another run id, under which it gets the ends of the
 * children that it has left. A parent that is gone needs no signal.
 */
export async function notifyParent(signal: string, ...args: readonly unknown[]): Promise<void> {
  const { parent } = workflowInfo();
  if (parent === undefined) return;
  try {
    await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(signal, ...args);
  } catch (error) {
    if (isCancellation(error) || !hasPatch('notify-a-run-that-was-reset')) return;
    await getExternalWorkflowHandle(parent.workflowId)
      .signal(signal, ...args)
      .catch(() => undefined);
  }
}
