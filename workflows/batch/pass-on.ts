import { getExternalWorkflowHandle, log } from '@temporalio/workflow';
import { operatedSignal, type OperatedInput } from '../../src/contract/messages.ts';
import { hasPatch } from '../has-patch.ts';
import type { BatchControl } from './batch-control.ts';

/**
 * What operators were promised while the file was still read, before this run knew that another one has it: that one pauses, or cancels, for nothing is
 * sent here. If it has ended meanwhile, the promise stays with this run, which may have the file next.
 */
export async function passOnActions(batch: BatchControl, workflowId: string): Promise<void> {
  const actions = [...batch.pendingActions];
  if (actions.length === 0 || !hasPatch('pass-on-what-was-asked')) return;
  const owner = getExternalWorkflowHandle(workflowId);
  try {
    for (const { what, why, who } of actions)
      if (isPassedOn(what)) await owner.signal(operatedSignal, { what, why, who });
    batch.notified(actions.length);
  } catch {
    log.warn('what this run was asked could not be passed on: the run that has the file has ended', { workflowId });
  }
}

/** Nothing else is accepted while a file is read. */
function isPassedOn(what: string): what is OperatedInput['what'] {
  return what === 'pause' || what === 'resume' || what === 'cancel-remaining';
}
