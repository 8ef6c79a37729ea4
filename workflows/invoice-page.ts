import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PageReview } from '../activities/settle.ts';
import * as options from './activity-options.ts';
import {
  controlSignal,
  pageSentSignal,
  settledSignal,
  waitingSignal,
  type PageControl,
  type PageInput,
  type PageResult,
} from './messages.ts';
import { askTimes } from './ask-times.ts';

const { submitSlice } = proxyActivities<Activities>(options.SUBMIT);
const { reviewPage } = proxyActivities<Activities>(options.SETTLE);
const { closePage } = proxyActivities<Activities>(options.BOOKKEEPING);

/** Two slices at a time keep the connection pool busy while one of them reads or writes the ledger. */
const SLICES_AT_ONCE = 2;
/** Refused "for now" or lost: the slice is sent again after this, doubled each round. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** A signal may be lost: re-read the ledger after 5, 10, 20 … 60 s of silence. */
const FIRST_REREAD_MS = 5_000;
const LONGEST_REREAD_MS = 60_000;

/** One page of a batch: send its slices -> wait for final words -> ask for what stays silent -> close. Every page ends. */
export async function invoicePage(input: PageInput): Promise<PageResult> {
  const { ledgerId, batchId, page, settings } = input;
  const scope = { ledgerId, batchId, page };
  const settled = new Set<number>();
  let control: PageControl = input.control;
  setHandler(settledSignal, ({ ordinals }) => {
    for (const ordinal of ordinals) settled.add(ordinal);
  });
  setHandler(controlSignal, (next) => {
    control = next;
  });

  await sendAll();
  await tellParent(pageSentSignal, { page });
  const review = await waitForFinalWords();
  await closePage({ ...scope, cancelled: control.cancelled });
  return { unsettled: review.accepted };

  /** Rounds over the page until nothing is left to send, the send time is spent, or an operator cancels. */
  async function sendAll(): Promise<void> {
    let spent = 0;
    let outage = 0;
    for (let retry = FIRST_RETRY_MS; !control.cancelled; retry = Math.min(retry * 2, LONGEST_RETRY_MS)) {
      await condition(() => !control.paused || control.cancelled);
      const round = await sendRound();
      if (round.left === 0 || round.stop) return;
      if (round.waiting === null) {
        spent += retry;
        if (spent > settings.sendMs) return;
        await waitAtMost(retry, 'sending again what got no final answer', () => control.cancelled);
      } else {
        // Trouble of the whole batch does not use up the send time of its invoices.
        outage += round.waiting.probeAfterMs;
        if (outage > settings.patienceMs) return;
        await tellParent(waitingSignal, { page, reason: round.waiting.reason });
        await waitAtMost(round.waiting.probeAfterMs, `waiting: ${round.waiting.reason}`, () => control.cancelled);
        await tellParent(waitingSignal, { page, reason: null });
        retry = FIRST_RETRY_MS / 2;
      }
    }
  }

  async function sendRound() {
    const round = { left: 0, stop: false, waiting: null as { reason: string; probeAfterMs: number } | null };
    const starts: number[] = [];
    for (let from = input.firstOrdinal; from <= input.lastOrdinal; from += settings.sliceSize) starts.push(from);
    const lane = async (): Promise<void> => {
      for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
        await condition(() => !control.paused || control.cancelled);
        if (control.cancelled || round.stop) return;
        const to = Math.min(from + settings.sliceSize - 1, input.lastOrdinal);
        const slice = await submitSlice({ ...scope, from, to });
        round.left += slice.left;
        round.stop ||= slice.stop;
        round.waiting ??= slice.waiting;
        if (slice.waiting !== null) {
          round.left += 1;
          return;
        }
      }
    };
    await Promise.all(Array.from({ length: SLICES_AT_ONCE }, lane));
    return round;
  }

  /** Signals are news; the ledger is re-read when enough of them came, or after a while without. */
  async function waitForFinalWords(): Promise<PageReview> {
    const asks = askTimes(settings.settleMs);
    let asked = 0;
    let reread = FIRST_REREAD_MS;
    for (;;) {
      // Cleared before the ledger is read: news that comes meanwhile may count twice, never be missed.
      settled.clear();
      const review = await reviewPage({ ...scope, ask: asked });
      const lastAcceptedAt = review.newestAcceptedAt;
      if (review.accepted + review.attached === 0 || lastAcceptedAt === null) return review;
      const age = review.now - lastAcceptedAt;
      if (age >= settings.settleMs) return review;
      while (asked < asks.length && (asks[asked] ?? 0) <= age) asked += 1;
      const nextAsk = (asks[asked] ?? settings.settleMs) - age;
      const open = review.accepted + review.attached;
      await waitAtMost(Math.min(reread, nextAsk + 1), 'waiting for final answers', () => settled.size >= open);
      reread = Math.min(reread * 2, LONGEST_REREAD_MS);
    }
  }

  async function waitAtMost(ms: number, summary: string, until: () => boolean): Promise<void> {
    if (until()) return;
    // A labelled timer instead of condition's anonymous one; the scope takes the loser of the race away.
    const race = new CancellationScope();
    await race.run(() => Promise.race([sleep(ms, { summary }), condition(until)]));
    race.cancel();
  }

  /** A parent that is gone needs no news. */
  async function tellParent<A extends [unknown]>(signal: { name: string; type: 'signal' }, ...args: A): Promise<void> {
    const parent = workflowInfo().parent;
    if (parent === undefined) return;
    try {
      await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(signal.name, ...args);
    } catch {
      // Closed meanwhile: the ledger has everything that matters.
    }
  }
}
