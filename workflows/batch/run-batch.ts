import { ActivityFailure, isCancellation, log, proxyActivities, workflowInfo, condition } from '@temporalio/workflow';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import type { Activities } from '../../activities/index.ts';
import type { BatchResult } from '../../src/domain/messages/messages.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';
import { runPages } from './batch-pages.ts';
import { withMonitoring } from './batch-watch.ts';
import { orUnreported, reportBatch } from './report-batch.ts';
import { sendCanary, PatientWait, waitForService } from './canary.ts';

const { sendAgain } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'what goes again' });
const { askUnsettled: pollUnsettled } = proxyActivities<Activities>({
  ...options.RECONCILE,
  summary: 'polling what an earlier run left unsettled',
});
const { finishBatch } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'closing the batch' });
const { confirmTotal } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'an operator confirmed the total',
});
const { ensureMerchants } = proxyActivities<Activities>({
  ...options.MERCHANTS,
  summary: 'the merchants of the batch',
});

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
    if (running.unsettled !== undefined) await pollUnsettled({ ledgerId, batchId });
  } catch (error) {
    // The person who cancelled the run knows, and reconciliation closes its batch.
    const isFailed = error instanceof ActivityFailure && !isCancellation(error);
    if (isFailed) await leaveReport(batch, last);
    throw error;
  }
  batch.showSnapshot(await orUnreported(batch, () => close(batch, last)));
}

function close(batch: BatchControl, { ledgerId, batchId, fencingToken }: RunningBatch, isFailed = false) {
  const { cancelled, pendingActions } = batch;
  const actions = [...pendingActions];
  const control = batch.sendingControl();
  return finishBatch({ ledgerId, batchId, fencingToken, cancelled, control, actions, ...(isFailed && { isFailed }) });
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

const WAITING_FOR = 'total-unusual';

/**
 * Waits, before anything of the batch is sent, until an operator has confirmed an unusual total or cancelled. Returns
 * the batch as it is to be sent.
 */
async function whenTotalConfirmed(batch: BatchControl, running: RunningBatch): Promise<RunningBatch> {
  const { ledgerId, batchId, fencingToken, unusual } = running;
  if (unusual === undefined) return running;
  batch.confirming(unusual);
  batch.waitFor(0, WAITING_FOR);
  await condition(() => batch.totalConfirmed || batch.cancelled);
  batch.waitFor(0, null);
  const confirmed = batch.totalConfirmed && !batch.cancelled;
  const next = confirmed
    ? await confirmTotal({ ledgerId, batchId, fencingToken, actions: [...batch.pendingActions] })
    : running;
  batch.begin(next);
  return next;
}

/** Rounds in which the list was read and a merchant was not created all the same; then it is that merchant's trouble. */
const STUCK_ROUNDS = 5;

/** An operator stopped the batch while its merchants were created (`activities/sending/merchants.ts`). */
const STOPPED = 'sending-stopped';

/** Waits for a service that is away as in an outage; holds the invoices of single merchants that cannot be created. */
async function ensureMerchantsPatiently(batch: BatchControl, ingested: RunningBatch): Promise<void> {
  const { ledgerId, batchId, fencingToken, run, settings } = ingested;
  const patience = new PatientWait(settings.patienceMs);
  let stuckRounds = 0;
  batch.phase('merchants');
  for (;;) {
    await condition(() => !batch.paused || batch.cancelled);
    // Cancelled: nothing more is sent, so no merchant is needed either.
    if (batch.cancelled) break;
    const lastTry = patience.isSpent;
    const version = batch.controlVersion;
    const merchants = await ensureMerchants({
      ledgerId,
      batchId,
      fencingToken,
      run,
      lastTry,
      holdStuck: lastTry || stuckRounds >= STUCK_ROUNDS,
    });
    // A pause says nothing of the service: it costs no patience, and no last try.
    const isPaused = merchants.waiting?.reason === STOPPED && (batch.paused || batch.controlVersion !== version);
    if (isPaused) continue;
    if (merchants.waiting === null || lastTry) break;
    stuckRounds = merchants.waiting.for === 'merchants' ? stuckRounds + 1 : 0;
    batch.waitFor(0, merchants.waiting.reason);
    await waitForService(batch, patience, { summary: `waiting: ${merchants.waiting.reason}`, version });
  }
  batch.waitFor(0, null);
}
