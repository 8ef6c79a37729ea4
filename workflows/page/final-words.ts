import { log } from '@temporalio/workflow';
import type { CloseInput, PageLook } from '../../activities/settling/settle.ts';
import type { PageInput } from '../../src/domain/messages/messages.ts';
import { activities } from '../activities.ts';
import { growingWait, historyIsLong, waitAtMost } from '../wait-at-most.ts';
import type { PageRun, SendingEnd } from './page-sending.ts';

const { closePage, lookAtPage, pollNow, reviewPage } = activities;

/** A signal may be lost, so the page reads the ledger again after 5, 10, 20 … 60 s without one. */
const FIRST_REREAD_MS = 5_000;
/** The shortest wait between two readings. A poll without an answer stays due, and must not be repeated at once. */
const SHORTEST_REREAD_MS = 1_000;
/** If the final words come within this time, one look closes the page. A look takes one of a worker's 40 workflow tasks, so it is short. */
const LONGEST_LOOK_MS = 2_000;
/** The first look takes at most one eighth of the settle time, because polls begin after a quarter of it. */
const LOOK_SHARE = 8;

/**
 * Waits until every invoice of the page has its final word, or its time is over, and closes the page. The ledger is the
 * truth: signals only make the page read it earlier. Returns the number of accepted invoices without a final word.
 */
export async function waitForFinalWords(
  input: PageInput,
  { control, settled, beginAgain }: PageRun,
  { ending, spent }: SendingEnd,
): Promise<number> {
  const { ledgerId, batchId, page, fencingToken, settings } = input;
  const { settleMs } = settings;
  const scope = { ledgerId, batchId, page, settleMs };
  const closing = { ...scope, fencingToken, ending, waitedFor: spent.waitedFor };
  const waitingSince = spent.waitingSince ?? Date.now();
  // The other batch may take its whole time for sending, and then its settle time.
  const attachedUntil = waitingSince + settings.sendMs + settings.patienceMs + settleMs;
  // An operator's request to poll now does not concern a page that began after the request.
  let asked = input.control.settleNow;
  // A page that has sent all of its invoices first looks whether their final words have come. If null, it does not look.
  let lookMs = ending === 'sent' ? Math.min(LONGEST_LOOK_MS, settleMs / LOOK_SHARE) : null;
  for (const nextReread = growingWait({ firstMs: FIRST_REREAD_MS, began: waitingSince }); ;) {
    // Clears before it reads the ledger, so that a signal that comes meanwhile may count twice, but is never missed.
    settled.clear();
    const look = lookMs === null ? null : await lookOnce(closing, lookMs);
    if (look?.isClosed === true) return 0;
    if (historyIsLong() && control().settleNow === asked) await beginAgain({ ...spent, waitingSince });
    const wanted = control().settleNow;
    const review = wanted > asked ? await pollNow({ ...scope, askNow: true }) : (look ?? (await reviewPage(scope)));
    asked = wanted;
    const { accepted, attached } = review;
    const settleOver = accepted === 0 || review.settleEndsInMs === 0;
    // Another batch's sending ends by itself, with its own send time, patience and settle time. If its run has died,
    // this wait ends anyway.
    const attachedOver = attached === 0 || control().cancelled || Date.now() >= attachedUntil;
    if (settleOver && attachedOver) {
      await closePage(closing);
      return accepted;
    }
    const spans = [nextReread(), review.nextAskInMs, settleOver ? null : review.settleEndsInMs];
    const wait = Math.min(...spans.filter((span) => span !== null));
    const isAsked = (): boolean => control().settleNow > asked;
    const isSettled = (): boolean => settled.size >= accepted + attached;
    await waitAtMost(Math.max(wait, SHORTEST_REREAD_MS), {
      summary: 'waiting for final answers',
      until: () => isSettled() || isAsked(),
    });
    lookMs = ending === 'sent' && isSettled() && !isAsked() ? 0 : null;
  }
}

/**
 * Closes the page if it waits for nothing now or within `waitMs`. Returns null if a review is needed instead: a review
 * polls what is due, and waits for a ledger that is away.
 */
async function lookOnce(closing: CloseInput, waitMs: number): Promise<PageLook | null> {
  try {
    const look = await lookAtPage({ ...closing, waitMs });
    return look.isReviewDue ? null : look;
  } catch {
    log.info('the page could not be looked at, and is reviewed', { page: closing.page });
    return null;
  }
}
