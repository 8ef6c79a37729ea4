import { CancellationScope, condition, log, proxyActivities } from '@temporalio/workflow';
import type { FirstInvoices } from '../../activities/sending/first-invoices.ts';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';

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
  if (!(await isSent(batch, running, first))) return;
  await untilFinalWords(batch, running, first);
  // Whoever pauses to look at the first invoices gives them the time for it.
  await unpaused(batch);
  if (!batch.cancelled) await judgeCanary({ ledgerId, batchId, fencingToken, first });
}

/** False: an operator cancelled. A pause stops the slice; it goes again when the pause is over. */
async function isSent(batch: BatchControl, running: RunningBatch, first: FirstInvoices): Promise<boolean> {
  const { ledgerId, batchId, fencingToken, run, before } = running;
  const { page, from, to } = first;
  for (;;) {
    await unpaused(batch);
    if (batch.cancelled) return false;
    const version = batch.controlVersion;
    const { left } = await submitSlice({ ledgerId, batchId, run, fencingToken, before, page, from, to });
    if (left === 0 || batch.controlVersion === version) return true;
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
