import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import { endOf } from './batch-end.ts';
import type { BatchControl } from './batch-control.ts';
import { ensureMerchantsPatiently } from './batch-merchants.ts';
import { runPages } from './batch-pages.ts';
import { whileWatched } from './batch-watch.ts';
import { inRounds } from './batch-rounds.ts';
import { sendCanary } from './canary.ts';
import type { BatchResult } from '../../src/contract/messages.ts';

const { askUnsettled } = proxyActivities<Activities>({
  ...options.RECONCILE,
  summary: 'asking for what an earlier run left unsettled',
});
const { finishBatch } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'closing the batch' });
const { writeReport } = proxyActivities<Activities>({ ...options.REPORT, summary: 'the report' });

/** A batch whose invoices are staged, to its end: merchants -> a few invoices first -> pages, in rounds -> close. */
export async function sendAndClose(batch: BatchControl, running: RunningBatch): Promise<void> {
  const last = await whileWatched(batch, running, () =>
    inRounds(batch, running, async (round) => {
      await ensureMerchantsPatiently(batch, round);
      await sendCanary(batch, round);
      await runPages(batch, round);
    }),
  );
  const { ledgerId, batchId, fencingToken } = last;
  // Batches that began before this question existed have no such number in their history.
  if (running.unsettled !== undefined) await askUnsettled({ ledgerId, batchId });
  const actions = [...batch.untold];
  batch.stands(await finishBatch({ ledgerId, batchId, fencingToken, cancelled: batch.cancelled, actions }));
}

/** The same, and its report. */
export async function runBatch(batch: BatchControl, running: RunningBatch): Promise<BatchResult> {
  await sendAndClose(batch, running);
  const { ledgerId, batchId, desk } = running;
  const report = await writeReport({ ledgerId, batchId, standing: false });
  batch.done(endOf(report, desk));
  return { ...report, pagesFailed: batch.pagesFailed };
}
