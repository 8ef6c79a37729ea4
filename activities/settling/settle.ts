import { pollsDue, nextPollInMs, pollsEveryInvoice, type PollPace } from '../../src/domain/time/poll-times.ts';
import { ageOf } from '../../src/domain/time/is-ahead.ts';
import { pollStatuses } from './poll-statuses.ts';
import type { PageWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, requireRunningWorker } from '../failure.ts';
import { takeRandom } from '../take-random.ts';
import { Context } from '@temporalio/activity';
import { createSemaphore } from '../../src/platform/concurrency.ts';
import { CALIBRATION_STOPS, FIRST_INVOICES_OUT, PROFILE_UNPROVED } from '../../src/domain/calibration.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { PageEnding } from '../../src/domain/messages/messages.ts';
import { NO_FINAL_ANSWER } from '../../src/domain/retry-decision.ts';
import type { PageProgress, PendingInvoice } from '../../src/ledger/settling/settling.ts';

export interface ReviewInput extends PageWork {
  readonly settleMs: number;
  /** An operator wants every pending invoice polled, whether or not it is due. */
  readonly askNow?: boolean;
}

/** What a page still waits for. Times are spans, so that the clocks of worker and Temporal server need not agree. */
export interface PageReview {
  readonly accepted: number;
  /** Invoices that another open batch sends. */
  readonly attached: number;
  /** Until one of the accepted invoices is due to be polled; null: no poll is left. */
  readonly nextAskInMs: number | null;
  /** Until the settle time of all accepted invoices is over; null: no invoice waits. */
  readonly settleEndsInMs: number | null;
}

/** Reported failures of one page that one review polls. */
const MOST_CONFIRMED_AT_ONCE = 5_000;
/** A review of a slow service ends after this; the next one goes on. */
const LONGEST_REVIEW_MS = 60_000;

/**
 * Reads what a page still waits for. Before that, confirms reported failures and polls pending invoices by GET.
 * @throws ApplicationFailure `worker-stops`: a page must not close while invoices wait for their last poll
 */
export async function reviewPage(deps: ActivityDeps, input: ReviewInput): Promise<PageReview> {
  const { batchId, page, settleMs } = input;
  const pace = { settleMs, everyMs: deps.settings.pollEveryMs };
  const until = deps.now() + LONGEST_REVIEW_MS;
  const over = attemptOver();
  let progress = await deps.ledger.pageProgress(batchId, page);
  let confirmed = 0;
  if (progress.reportedFailed > 0) {
    const failures = await deps.ledger.unconfirmedFailures(batchId, page, MOST_CONFIRMED_AT_ONCE);
    confirmed = (await pollStatuses(deps, failures, until)).answered;
    progress = await deps.ledger.pageProgress(batchId, page);
  }
  const pollAll = input.askNow === true && progress.accepted > 0;
  let unfinished = false;
  if (pollAll || hasPollsDue(deps, progress, pace)) {
    if (pollAll) {
      // Due or not; the planned polls stay what they were.
      const pending = await deps.ledger.pendingInvoices(batchId, page, deps.now() + 1, MOST_POLLED_AT_ONCE);
      await pollStatuses(deps, pending, until);
    } else unfinished = (await pollPending(deps, input, until)) || (confirmed > 0 && deps.now() >= until);
    progress = await deps.ledger.pageProgress(batchId, page);
  }
  requireRunningWorker(over);
  const review = reviewOf(deps, progress, pace);
  if (!unfinished || review.settleEndsInMs === null) return review;
  // The page must not close while invoices wait for their last poll: the next review goes on at once.
  return { ...review, nextAskInMs: 0, settleEndsInMs: Math.max(review.settleEndsInMs, 1) };
}

/** The newest one may be ahead of the clock: its polls are due with those of the oldest. */
function hasPollsDue(
  { now }: Pick<ActivityDeps, 'now'>,
  { oldestAcceptedAt, newestAcceptedAt }: PageProgress,
  pace: PollPace,
): boolean {
  return [oldestAcceptedAt, newestAcceptedAt].some((at) => at !== null && pollsDue(pace, ageOf(at, now())) > 0);
}

/** What a page waits for by its progress. */
function reviewOf(deps: Pick<ActivityDeps, 'now'>, progress: PageProgress, pace: PollPace): PageReview {
  const { accepted, attached, oldestAcceptedAt, newestAcceptedAt } = progress;
  if (accepted === 0 || newestAcceptedAt === null || oldestAcceptedAt === null) {
    return { accepted: 0, attached, nextAskInMs: null, settleEndsInMs: null };
  }
  const [oldest, newest] = [ageOf(oldestAcceptedAt, deps.now()), ageOf(newestAcceptedAt, deps.now())];
  const polls = [nextPollInMs(pace, oldest), nextPollInMs(pace, newest)];
  const left = polls.filter((span) => span !== null);
  return {
    accepted,
    attached,
    nextAskInMs: left.length === 0 ? null : Math.min(...left),
    // Where a clock ran ahead of some, the others count.
    settleEndsInMs: Math.max(0, pace.settleMs - (newest === Infinity ? oldest : newest)),
  };
}

/** Polled before the other invoices: an engine that is slow for all of them must not get thousands of polls. */
const FIRST_SAMPLE = 20;
/** A page is 2,000 invoices or somewhat more; the next review polls what is beyond this. */
const MOST_POLLED_AT_ONCE = 5_000;

/**
 * Polls the pending invoices that are due. The last three polls go to every invoice. Each earlier one goes to a random
 * sample first, and to twice as many while one of them has a final word: when none has, the engine needs its time, and
 * no webhook was lost. Returns whether the review ended before it had polled every invoice that it had to.
 */
async function pollPending(deps: ActivityDeps, page: ReviewInput, until: number): Promise<boolean> {
  for (let sample = FIRST_SAMPLE; deps.now() < until; sample *= 2) {
    // Read again each time: webhooks that arrive meanwhile make a poll needless.
    const { everyone, sampled, more } = await dueInvoices(deps, page);
    const chosen = [...everyone, ...takeRandom(sampled, sample, deps.random)];
    const { answered, finals, skipped, unanswered } = await pollStatuses(deps, chosen, until);
    // A service that answers nothing is not polled for ever.
    if (answered > 0 && (skipped + unanswered > 0 || more)) return true;
    if (finals === 0 || chosen.length === everyone.length + sampled.length) return false;
  }
  return false;
}

/** `more`: there are more than one review polls. */
async function dueInvoices(deps: ActivityDeps, { batchId, page, settleMs }: ReviewInput) {
  const now = deps.now();
  const pace = { settleMs, everyMs: deps.settings.pollEveryMs };
  const everyone: PendingInvoice[] = [];
  const sampled: PendingInvoice[] = [];
  const pending = await deps.ledger.pendingInvoices(batchId, page, now, MOST_POLLED_AT_ONCE);
  for (const invoice of pending) {
    // Each invoice counts by its own age: in a page that was held up, the first may have waited for hours when the last
    // was accepted.
    const due = pollsDue(pace, ageOf(invoice.acceptedAt, now));
    if (invoice.asks >= due) continue;
    (pollsEveryInvoice(pace, due) ? everyone : sampled).push({ ...invoice, asks: due });
  }
  return { everyone, sampled, more: pending.length === MOST_POLLED_AT_ONCE && everyone.length > 0 };
}

export interface LookInput extends CloseInput {
  /** How long final words are waited for; 0: not at all. */
  readonly waitMs: number;
}

/** What a page still waits for. */
export interface PageLook extends PageReview {
  /** Nothing: the page is closed. */
  readonly isClosed: boolean;
  /** Invoices are to be polled, or a failure is to be confirmed, by a review. */
  readonly isReviewDue: boolean;
}

/**
 * Webhooks write to the ledger, and the page is looked at again after as long as was waited already, within these bounds.
 */
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/**
 * Looks that wait at the same time in this process. Each takes one of its 40 workflow tasks: many small pages of a slow service would take them all, and
 * other batches, queries and operators' updates would wait for seconds. One more look does not wait; its page does, for a signal.
 */
const waits = createSemaphore(20);

/** Applies stored events of a page and counts what it waits for, without asking the service; closes it as soon as that is nothing. */
export async function lookAtPage(deps: ActivityDeps, input: LookInput): Promise<PageLook> {
  const over = attemptOver();
  const place = input.waitMs > 0 ? waits.tryAcquire() : null;
  try {
    if (place !== null) await waitWhileOpen(deps, input, over);
    return await lookOnce(deps, input, over);
  } finally {
    place?.();
  }
}

/** Until no invoice of the page is waited for, or the time is over. */
async function waitWhileOpen(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  { batchId, page, waitMs }: LookInput,
  over: AbortSignal,
): Promise<void> {
  const began = now();
  for (let waited = 0; waited < waitMs && !over.aborted; waited = now() - began) {
    if (!(await ledger.isPageOpen(batchId, page))) return;
    const pause = Math.min(Math.max(waited, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS, waitMs - waited);
    await Context.current()
      .sleep(Math.round(pause))
      .catch(() => undefined);
  }
}

/** An attempt that is over closes nothing: it may have waited long for what it read. */
async function lookOnce(deps: ActivityDeps, input: LookInput, over: AbortSignal): Promise<PageLook> {
  const { batchId, page, settleMs } = input;
  const pace = { settleMs, everyMs: deps.settings.pollEveryMs };
  const progress = await deps.ledger.pageProgress(batchId, page);
  const review = reviewOf(deps, progress, pace);
  const isClosed = review.accepted === 0 && review.attached === 0 && !over.aborted;
  if (isClosed) await closePage(deps, input);
  return {
    ...review,
    isClosed,
    isReviewDue: !isClosed && (progress.reportedFailed > 0 || hasPollsDue(deps, progress, pace)),
  };
}

/** A page to be closed, and how its sending ended. */
export interface CloseInput extends PageWork {
  readonly settleMs: number;
  /** Why the page stopped sending. */
  readonly ending: PageEnding;
  /** What the page waited for last; null: nothing. */
  readonly waitedFor: string | null;
}

/** Its time to be sent was over before its first try, or it came to this batch when its page had been sent. */
const NOT_SENT: Reason = {
  code: 'not-sent',
  message: 'The page of this invoice ended before it was sent. Drop the file again to send it.',
};

/** Gives every invoice of the page that has no final word the state that says so, and the unsent ones the reason why. */
export async function closePage(deps: ActivityDeps, input: CloseInput): Promise<void> {
  const { batchId, page, settleMs, fencingToken } = input;
  const now = deps.now();
  const unsent = unsentReason(input);
  if (unsent !== null) await deps.ledger.holdUnsent(batchId, { reason: unsent, page, now, fencingToken });
  const acceptedBefore = now - settleMs + 1;
  const reasons = { reason: NO_FINAL_ANSWER, unsent: NOT_SENT };
  await deps.ledger.closePage(batchId, page, { acceptedBefore, ...reasons, now, fencingToken });
}

/** What a page waits for while the service profile is not proved, or found wrong. */
const UNPROVED = new Set([FIRST_INVOICES_OUT, PROFILE_UNPROVED, ...CALIBRATION_STOPS]);

/** Null: an answer of the service stands as the reason already. */
function unsentReason({ ending, waitedFor }: CloseInput): Reason | null {
  switch (ending) {
    case 'cancelled':
      return BATCH_CANCELLED;
    case 'outage':
      if (UNPROVED.has(waitedFor ?? ''))
        return {
          code: PROFILE_UNPROVED,
          message: `Not sent: the service profile was not proved to read the service within LOTE_OUTAGE_PATIENCE (${waitedFor}). lote status says what does not fit. Then drop the file again to send it.`,
        };
      return {
        code: 'service-away',
        message: `Not sent: the service could not be reached for longer than LOTE_OUTAGE_PATIENCE${waitedFor === null ? '' : ` (${waitedFor})`}. Drop the file again to send it.`,
      };
    case 'sent':
    case 'send-time':
      return null;
  }
}

/** Of an invoice that was not sent when an operator cancelled its batch, whether its page or the batch writes it down. */
export const BATCH_CANCELLED: Reason = {
  code: 'batch-cancelled',
  message: 'An operator cancelled what was not sent yet. Run the file again, or retry the batch, to send it.',
};
