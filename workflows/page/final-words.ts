import { proxyActivities, log, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { CloseInput, PageReview, PageLook } from '../../activities/settling/settle.ts';
import type { PageControl, PageInput } from '../../src/domain/messages/messages.ts';
import * as options from '../activity-options.ts';
import { growingWait, historyIsLong, waitAtMost } from '../wait-at-most.ts';

const { reviewPage } = proxyActivities<Activities>({
  ...options.SETTLE,
  summary: 'final words: what the ledger knows',
});
const { reviewPage: pollNow } = proxyActivities<Activities>({
  ...options.SETTLE,
  summary: 'an operator wants every pending invoice polled now',
});

/** A signal may be lost, so the page reads the ledger again after 5, 10, 20 … 60 s without one. */
const FIRST_REREAD_MS = 5_000;
/** The next review repeats a due poll without an answer, but not at once. */
const SHORTEST_REREAD_MS = 1_000;

/** Why the page stopped sending, and the trouble of the service that it last waited for. */
type Sent = Pick<CloseInput, 'ending' | 'waitedFor'>;

/** State and callbacks of a waiting page. */
export interface PageWait {
  readonly control: () => PageControl;
  /** Ordinals that signals called settled since the last read. */
  readonly settled: Set<number>;
  readonly sent: Sent;
  /**
   * The result of a look just now, which replaces the first review; null if the look failed. Undefined if this run does
   * not look, because its sending did not finish.
   */
  readonly looked: PageLook | null | undefined;
  /** When the wait began, maybe in an earlier run of the page; epoch milliseconds. */
  readonly waitingSince: number;
  /** Ends this run of the page and begins again in another one. */
  readonly beginAgain: () => Promise<never>;
}

/** The end of the wait. */
export interface PageEnd {
  /** Accepted invoices without a final word. */
  readonly unsettled: number;
  /** The ledger has already closed the page. */
  readonly isClosed: boolean;
}

/** Waits until every invoice of the page has its final word, or its time is over. The ledger is the truth: signals only make the page read it earlier. */
export async function waitForFinalWords(
  input: PageInput,
  { control, settled, sent, looked, waitingSince, beginAgain }: PageWait,
): Promise<PageEnd> {
  const { ledgerId, batchId, page, settings } = input;
  const { settleMs } = settings;
  const scope = { ledgerId, batchId, page };
  // The sending of the other batch, and then its settle time.
  const attachedUntil = waitingSince + settings.sendMs + settings.patienceMs + settleMs;
  // Requests from before this page began do not concern it.
  let asked = input.control.settleNow;
  let known: PageReview | null = looked ?? null;
  for (const nextReread = growingWait({ firstMs: FIRST_REREAD_MS, began: waitingSince }); ;) {
    if (historyIsLong() && control().settleNow === asked) await beginAgain();
    // Clears before it reads the ledger, so that a signal that comes meanwhile may count twice, but is never missed.
    if (known === null) settled.clear();
    const wanted = control().settleNow;
    const review =
      wanted > asked
        ? await pollNow({ ...scope, settleMs, askNow: true })
        : (known ?? (await reviewPage({ ...scope, settleMs })));
    known = null;
    asked = wanted;
    const { accepted, attached } = review;
    const settleOver = accepted === 0 || review.settleEndsInMs === 0;
    // Another batch's sending ends by itself, with its own send time, patience and settle time. If its run has died,
    // this wait ends anyway.
    const attachedOver = attached === 0 || control().cancelled || Date.now() >= attachedUntil;
    if (settleOver && attachedOver) return { unsettled: accepted, isClosed: false };
    const spans = [nextReread(), review.nextAskInMs, settleOver ? null : review.settleEndsInMs];
    const wait = Math.min(...spans.filter((span) => span !== null));
    await waitAtMost(Math.max(wait, SHORTEST_REREAD_MS), {
      summary: 'waiting for final answers',
      until: () => settled.size >= accepted + attached || control().settleNow > asked,
    });
    if (looked === undefined || settled.size < accepted + attached || control().settleNow > asked) continue;
    settled.clear();
    const look = await lookOnce(input, { sent, waitMs: 0 });
    if (look?.isClosed === true) return { unsettled: 0, isClosed: true };
    known = look;
  }
}

/**
 * A local activity, because it takes a few small statements of the ledger and costs one event. It ends before its
 * workflow task must be prolonged. It does not wait for a ledger that is away; the review that follows does.
 */
const { lookAtPage } = proxyLocalActivities<Activities>({
  scheduleToCloseTimeout: '7s',
  retry: { maximumAttempts: 1 },
});

/** If the service finishes within this time, one look closes the page; it takes one of a worker's 40 workflow tasks. */
const LONGEST_WAIT_MS = 2_000;
/** Share of the settle time: polls begin after a quarter of it. */
const WAIT_SHARE = 8;

/**
 * Looks for the final words of a page that has just sent its last invoice, and closes a page that has all of them.
 * Returns null if a review must find out the state.
 */
export function lookForLastWord(input: PageInput, sent: Sent): Promise<PageLook | null> {
  return lookOnce(input, { sent, waitMs: Math.min(LONGEST_WAIT_MS, input.settings.settleMs / WAIT_SHARE) });
}

/** Closes the page if it waits for nothing now or within `waitMs`. Returns null if a review must find out the state. */
async function lookOnce(
  { ledgerId, batchId, fencingToken, page, settings: { settleMs } }: PageInput,
  { sent, waitMs }: { readonly sent: Sent; readonly waitMs: number },
): Promise<PageLook | null> {
  try {
    const look = await lookAtPage({ ledgerId, batchId, page, fencingToken, settleMs, waitMs, ...sent });
    return look.isReviewDue ? null : look;
  } catch {
    log.info('the page could not be looked at, and is reviewed', { page });
    return null;
  }
}
