import { CancellationScope, condition, log, proxyActivities } from '@temporalio/workflow';
import { hasPatch } from '../has-patch.ts';
import type { FirstInvoices } from '../../activities/sending/first-invoices.ts';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import { isSampleSent } from '../../src/domain/first-invoices.ts';
import type { BatchControl } from './batch-control.ts';
import { PatientWait, waitForService } from './patient-wait.ts';

const { submitSlice } = proxyActivities<Activities>({ ...options.SUBMIT, summary: 'a few invoices first' });

const { awaitFirstInvoices } = proxyActivities<Activities>({
  ...options.FIRST_WORDS,
  summary: 'waiting for final words of the first invoices',
});

const { judgeCanary } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'did all of the first ones go wrong?',
});

/** Sizes of runs of an earlier version, which do not know their first invoices. */
const CANARY = 20;
const SMALLEST_BATCH = 10 * CANARY;
const WAITING_FOR = 'first-invoices';

/**
 * A few invoices of a large batch go before the others. When the service refuses every one of them, or accepts and then fails them, the rest is held, and
 * the pages find nothing to send.
 */
export async function sendCanary(batch: BatchControl, running: RunningBatch): Promise<void> {
  const { ledgerId, batchId, fencingToken, first } = running;
  if (first === null) return;
  if (first === undefined) return sendCanaryOfEarlierVersion(batch, running);
  const isSent = await sendFirst(batch, running, first);
  batch.waitFor(0, null);
  if (!isSent) return;
  await untilFinalWords(batch, running, first);
  // Whoever pauses to look at the first invoices gives them the time for it.
  await unpaused(batch);
  if (!batch.cancelled) await judgeCanary({ ledgerId, batchId, fencingToken, first });
}

/**
 * False: an operator cancelled. A pause stops the slice; it goes again when the pause is over. While the service is away, or nothing may leave, most of
 * them stay unsent: they go again, and the others wait for them, for otherwise the file would go out whole without its sample. A few that get no answer
 * are left to their page.
 */
async function sendFirst(batch: BatchControl, running: RunningBatch, first: FirstInvoices): Promise<boolean> {
  const { ledgerId, batchId, fencingToken, run, before, settings } = running;
  const { page, from, to } = first;
  const patience = new PatientWait(settings.patienceMs);
  for (;;) {
    await unpaused(batch);
    if (batch.cancelled) return false;
    const version = batch.controlVersion;
    const slice = await submitSlice({ ledgerId, batchId, run, fencingToken, before, page, from, to });
    if (batch.controlVersion !== version && slice.left > 0) continue;
    if (slice.stop || isSampleSent(first, slice.left)) return true;
    // Runs of an earlier version let the pages go on with whatever was sent.
    if (!hasPatch('first-invoices-again')) return true;
    if (patience.isSpent) {
      if (slice.waiting !== null) batch.outageOver();
      return true;
    }
    batch.waitFor(0, slice.waiting?.reason ?? null);
    await waitForService(batch, patience, {
      summary: `the first invoices go again: ${slice.waiting?.reason ?? 'most of them were not sent'}`,
      atLeastMs: slice.waiting?.probeAfterMs,
      version,
    });
  }
}

/** The time is the activity's to keep: it costs three events, and goes on with another worker when its own has died. */
async function untilFinalWords(batch: BatchControl, running: RunningBatch, first: FirstInvoices): Promise<void> {
  const { ledgerId, batchId } = running;
  const waiting = new CancellationScope();
  batch.waitFor(0, WAITING_FOR);
  try {
    await waiting.run(() =>
      Promise.race([awaitFirstInvoices({ ledgerId, batchId, ...first }), condition(() => batch.cancelled)]),
    );
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) throw error;
    log.warn('the final words of the first invoices were not waited for', { batchId });
  } finally {
    waiting.cancel();
    batch.waitFor(0, null);
  }
}

async function unpaused(batch: BatchControl): Promise<void> {
  await condition(() => !batch.paused || batch.cancelled);
}

async function sendCanaryOfEarlierVersion(
  batch: BatchControl,
  { ledgerId, batchId, fencingToken, run, invoices, pages }: RunningBatch,
): Promise<void> {
  const [first] = pages;
  if (first === undefined || invoices < SMALLEST_BATCH || batch.cancelled || batch.paused) return;
  const { page, firstOrdinal, lastOrdinal } = first;
  const to = Math.min(firstOrdinal + CANARY - 1, lastOrdinal);
  await submitSlice({ ledgerId, batchId, run, page, from: firstOrdinal, to });
  await judgeCanary({ ledgerId, batchId, fencingToken });
}
