import { ActivityFailure, isCancellation, log, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import type { Activities } from '../../activities/index.ts';
import type { BatchResult } from '../../src/contract/messages.ts';
import * as options from '../activity-options.ts';
import { hasPatch } from '../has-patch.ts';
import type { BatchControl } from './batch-control.ts';
import { ensureMerchantsPatiently } from './batch-merchants.ts';
import { runPages } from './batch-pages.ts';
import { whenTotalConfirmed } from './confirm-total.ts';
import { withMonitoring } from './batch-watch.ts';
import { orUnreported, reportBatch } from './report-batch.ts';
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
    batch.beginRound(running.pages.map(({ page }) => page));
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

/** A batch whose invoices are staged, to its end: an unusual total confirmed -> merchants -> a few invoices first -> pages, in rounds -> close. */
export async function sendAndClose(batch: BatchControl, running: RunningBatch): Promise<void> {
  let last = running;
  try {
    last = await withMonitoring(batch, running, async () =>
      inRounds(batch, await whenTotalConfirmed(batch, running), async (round) => {
        last = round;
        await ensureMerchantsPatiently(batch, round);
        await sendCanary(batch, round);
        await runPages(batch, round);
      }),
    );
    const { ledgerId, batchId } = last;
    // Batches that began before this question existed have no such number in their history.
    if (running.unsettled !== undefined) await pollUnsettled({ ledgerId, batchId });
  } catch (error) {
    // Whoever cancelled the run knows, and reconciliation closes its batch.
    const isFailed = error instanceof ActivityFailure && !isCancellation(error) && hasPatch('report-of-a-failed-run');
    if (isFailed) await leaveReport(batch, last);
    throw error;
  }
  batch.showSnapshot(await orUnreported(batch, () => close(batch, last)));
}

function close(batch: BatchControl, { ledgerId, batchId, fencingToken }: RunningBatch, isFailed = false) {
  const { cancelled, pendingActions } = batch;
  const actions = [...pendingActions];
  return finishBatch({ ledgerId, batchId, fencingToken, cancelled, actions, ...(isFailed && { isFailed }) });
}

/** A step failed for good, and the run will fail with it: what it leaves has its report all the same. What cannot be closed now, reconciliation closes. */
async function leaveReport(batch: BatchControl, last: RunningBatch): Promise<void> {
  batch.phase('reporting');
  const { ledgerId, batchId, desk } = last;
  try {
    batch.showSnapshot(await orUnreported(batch, () => close(batch, last, true)));
    await reportBatch(batch, { ledgerId, batchId, desk, standing: false });
  } catch {
    log.warn('a batch that failed could not be closed', { batchId });
  }
}

/** The same, and its report. */
export async function runBatch(batch: BatchControl, running: RunningBatch): Promise<BatchResult> {
  await sendAndClose(batch, running);
  const { ledgerId, batchId, desk } = running;
  const report = await reportBatch(batch, { ledgerId, batchId, desk, standing: false });
  return { ...report, pagesFailed: batch.pagesFailed };
}
