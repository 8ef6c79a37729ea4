import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import type { Activities } from '../../activities/index.ts';
import type { BatchResult } from '../../src/contract/messages.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';
import { endOf } from './batch-end.ts';
import { ensureMerchantsPatiently } from './batch-merchants.ts';
import { runPages } from './batch-pages.ts';
import { whenTotalConfirmed } from './confirm-total.ts';
import { withMonitoring } from './batch-watch.ts';
import { sendCanary } from './canary.ts';

const { sendAgain } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'what goes again' });

/**
 * One round of the pages, and further ones for as long as something goes again: what operators asked for meanwhile
 * (update `retryInvoices`), and failed invoices that the retry policy of the service profile names. Generations are
 * limited, so the rounds end. Returns the batch as the last round left it.
 */
async function inRounds(
  batch: BatchControl,
  first: RunningBatch,
  round: (running: RunningBatch) => Promise<void>,
): Promise<RunningBatch> {
  let running = first;
  for (let number = 1; ; number += 1) {
    await round(running);
    const { ledgerId, batchId, fencingToken } = running;
    const requests = batch.takeRetries();
    const actionId = `${workflowInfo().workflowId}/${workflowInfo().runId}/round-${number}`;
    const again = await sendAgain({ ledgerId, batchId, fencingToken, actionId, requests, automatic: !batch.cancelled });
    running = again.batch;
    if (again.moved === 0 && !batch.retryWaiting) break;
  }
  // From here on an update would be promised and forgotten; the validator refuses it in this phase.
  batch.phase('reporting');
  return running;
}

const { askUnsettled: pollUnsettled } = proxyActivities<Activities>({
  ...options.RECONCILE,
  summary: 'polling what an earlier run left unsettled',
});
const { finishBatch } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'closing the batch' });
const { writeReport } = proxyActivities<Activities>({ ...options.REPORT, summary: 'the report' });

/** A batch whose invoices are staged, to its end: an unusual total confirmed -> merchants -> a few invoices first -> pages, in rounds -> close. */
export async function sendAndClose(batch: BatchControl, running: RunningBatch): Promise<void> {
  const last = await withMonitoring(batch, running, async () =>
    inRounds(batch, await whenTotalConfirmed(batch, running), async (round) => {
      await ensureMerchantsPatiently(batch, round);
      await sendCanary(batch, round);
      await runPages(batch, round);
    }),
  );
  const { ledgerId, batchId, fencingToken } = last;
  // Batches that began before this question existed have no such number in their history.
  if (running.unsettled !== undefined) await pollUnsettled({ ledgerId, batchId });
  const actions = [...batch.pendingActions];
  batch.showSnapshot(await finishBatch({ ledgerId, batchId, fencingToken, cancelled: batch.cancelled, actions }));
}

/** The same, and its report. */
export async function runBatch(batch: BatchControl, running: RunningBatch): Promise<BatchResult> {
  await sendAndClose(batch, running);
  const { ledgerId, batchId, desk } = running;
  const report = await writeReport({ ledgerId, batchId, standing: false });
  batch.done(endOf(report, desk));
  return { ...report, pagesFailed: batch.pagesFailed };
}
