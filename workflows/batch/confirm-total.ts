import { condition, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';
import { notifyHeld } from './notify-nightly-run.ts';

const { confirmTotal } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'an operator confirmed the total',
});

const WAITING_FOR = 'total-unusual';

/**
 * Waits, before anything of the batch is sent, until an operator has confirmed an unusual total or cancelled. Returns
 * the batch as it is to be sent. In histories of an earlier version no batch has an unusual total, so they replay.
 */
export async function whenTotalConfirmed(batch: BatchControl, running: RunningBatch): Promise<RunningBatch> {
  const { ledgerId, batchId, fencingToken, unusual } = running;
  if (unusual === undefined) return running;
  batch.confirming(unusual);
  batch.waitFor(0, WAITING_FOR);
  await notifyHeld(batchId, unusual);
  await condition(() => batch.totalConfirmed || batch.cancelled);
  batch.waitFor(0, null);
  const confirmed = batch.totalConfirmed && !batch.cancelled;
  const next = confirmed
    ? await confirmTotal({ ledgerId, batchId, fencingToken, actions: [...batch.pendingActions] })
    : running;
  batch.begin(next);
  return next;
}
