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

/** Id of a batch that is paused; null: it is not paused. `isAllSent`: nothing of it is left to send. */
interface Pause {
  readonly batchId: string | null;
  readonly isAllSent: boolean;
}

/**
 * Notifies the nightly run that started this one that an operator has paused the batch, or has resumed it: a night that waited for a paused batch would
 * keep all later ones from beginning. `known`: what the night was notified of before. Returns what it knows now.
 */
export async function notifyPaused({ batchId, isAllSent }: Pause, known: string | null): Promise<string | null> {
  const { workflowId, parent } = workflowInfo();
  if (parent === undefined) return known;
  // The pause keeps nothing of it: the batch ends by itself, and the night has its end.
  const isOver = batchId !== null && isAllSent && hasPatch('wait-for-what-is-sent');
  const paused = isOver ? null : batchId;
  if (paused === known || !hasPatch('go-on-without-a-paused-file')) return known;
  await notifyParent(batchPausedSignal.name, { workflowId, batchId: paused });
  return paused;
}
