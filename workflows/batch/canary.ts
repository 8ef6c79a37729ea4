import { CancellationScope, condition, log } from '@temporalio/workflow';
import type { FirstInvoices } from '../../activities/sending/first-invoices.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import { activities } from '../activities.ts';
import { isSampleSent } from '../../src/domain/answer-counts.ts';
import type { BatchControl } from './batch-control.ts';
import { growingWait, waitAtMost } from '../wait-at-most.ts';

const { submitFirst, awaitFirstInvoices, judgeCanary } = activities;

const WAITING_FOR = 'first-invoices';

/**
 * Sends a few invoices of a large batch before the rest. If the service refuses every one of them, or accepts and then
 * fails them, Lote holds the rest, and the pages find nothing to send.
 */
export async function sendCanary(batch: BatchControl, running: RunningBatch): Promise<void> {
  const { ledgerId, batchId, fencingToken, first } = running;
  if (first === undefined) return;
  const isSent = await sendFirst(batch, running, first);
  batch.waitFor(0, null);
  if (!isSent) return;
  await untilFinalWords(batch, running, first);
  // A person may pause the batch to look at the first invoices; Lote judges them after the pause.
  await unpaused(batch);
  if (!batch.cancelled) await judgeCanary({ ledgerId, batchId, fencingToken, first });
}

/**
 * Sends the first invoices until most of them are sent. Returns false if an operator cancelled. A pause stops the
 * slice, which is sent again after the pause. While the service is away or sending is stopped, the rest of the batch
 * waits; otherwise the file would go out without its sample. A few invoices without an answer are left to their page.
 */
async function sendFirst(batch: BatchControl, running: RunningBatch, first: FirstInvoices): Promise<boolean> {
  const { ledgerId, batchId, fencingToken, run, before, settings } = running;
  const { page, from, to } = first;
  const patience = new PatientWait(settings.patienceMs);
  for (;;) {
    await unpaused(batch);
    if (batch.cancelled) return false;
    const version = batch.controlVersion;
    const slice = await submitFirst({ ledgerId, batchId, run, fencingToken, before, page, from, to });
    if (batch.controlVersion !== version && slice.left > 0) continue;
    if (slice.stop || isSampleSent(first, slice.left)) return true;
    if (patience.isSpent) {
      if (slice.waiting !== null) batch.outageOver();
      return true;
    }
    batch.waitFor(0, slice.waiting?.reason ?? null);
    await patience.wait(batch, {
      summary: `the first invoices go again: ${slice.waiting?.reason ?? 'most of them were not sent'}`,
      atLeastMs: slice.waiting?.probeAfterMs,
      version,
    });
  }
}

/** The activity keeps the time, because that costs only three events, and another worker continues it if its own has died. */
async function untilFinalWords(batch: BatchControl, running: RunningBatch, first: FirstInvoices): Promise<void> {
  const { ledgerId, batchId } = running;
  const waiting = new CancellationScope();
  batch.waitFor(0, WAITING_FOR);
  try {
    await waiting.run(() =>
      Promise.race([awaitFirstInvoices({ ledgerId, batchId, first }), condition(() => batch.cancelled)]),
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

/** Nothing has been sent yet, so there is no hurry: Lote asks again after 1, 2, 4 … 30 s. */
const TRIES = { firstMs: 1_000, longestMs: 30_000 };

/** Keeps how long a batch has waited for the service, in milliseconds. Its waits between two tries become longer. */
export class PatientWait {
  readonly #patienceMs: number;
  readonly #nextWait = growingWait(TRIES);
  #waited = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** The whole patience is spent. */
  get isSpent(): boolean {
    return this.#waited >= this.#patienceMs;
  }

  /**
   * Waits before the next try. A cancellation ends the wait, and so does a resumption, because a person who resumes a
   * batch wants it to go on now. `version`: `controlVersion` of the batch when the last try began.
   */
  async wait(
    batch: Pick<BatchControl, 'paused' | 'cancelled' | 'controlVersion'>,
    { summary, atLeastMs = 0, version }: { summary: string; atLeastMs?: number | undefined; version: number },
  ): Promise<void> {
    const began = Date.now();
    const until = (): boolean => batch.cancelled || (batch.controlVersion !== version && !batch.paused);
    const waitMs = Math.min(Math.max(this.#nextWait(), atLeastMs), this.#patienceMs - this.#waited);
    await waitAtMost(waitMs, { summary, until });
    // Time in which the worker was away does not count as waiting for the service.
    this.#waited += Math.min(Date.now() - began, waitMs);
  }
}
