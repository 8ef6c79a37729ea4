import { workflowInfo } from '@temporalio/workflow';
import { batchHeldSignal, batchPausedSignal, type UnusualTotal } from '../../src/contract/messages.ts';
import { hasPatch } from '../has-patch.ts';
import { notifyParent } from '../notify-parent.ts';

/** The nightly run that started this one must not wait for somebody who sleeps: it goes on without the file. */
export async function notifyHeld(batchId: string, unusual: UnusualTotal): Promise<void> {
  const { workflowId } = workflowInfo();
  const { invoices, difference } = unusual;
  // A night that has ended meanwhile: the next one finds the file, and asks again.
  await notifyParent(batchHeldSignal.name, { workflowId, batchId, unusual: { invoices, difference } });
}

/**
 * Notifies the nightly run that started this one that an operator has paused the batch, or has resumed it: a night that waited for a paused batch would
 * keep all later ones from beginning. `paused`: id of the batch; null: it is not paused. `known`: what the night was notified of before. Returns what it
 * knows now.
 */
export async function notifyPaused(paused: string | null, known: string | null): Promise<string | null> {
  const { workflowId, parent } = workflowInfo();
  if (paused === known || parent === undefined || !hasPatch('go-on-without-a-paused-file')) return known;
  await notifyParent(batchPausedSignal.name, { workflowId, batchId: paused });
  return paused;
}
