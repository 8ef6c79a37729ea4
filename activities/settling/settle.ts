import { pollsDue, nextPollInMs, pollsEveryInvoice, type PollPace } from '../../src/domain/time/poll-times.ts';
import { ageOf } from '../../src/domain/time/instants.ts';
import { pollStatuses } from './poll-statuses.ts';
import type { PageWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, requireRunningWorker } from '../failure.ts';
import { takeRandom } from '../take-random.ts';
import { Context } from '@temporalio/activity';
import { createSemaphore } from '../../src/platform/concurrency.ts';
import { CALIBRATION_STOPS, FIRST_INVOICES_OUT, PROFILE_UNPROVED } from '../../src/domain/calibration-state.ts';
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
  /** Time until the next poll of an accepted invoice is due; null if no poll is left. */
  readonly nextAskInMs: number | null;
  /** Time until the settle time of all accepted invoices is over; null if no invoice waits. */
  readonly settleEndsInMs: number | null;
}

/** Most reported failures of one page that one review polls. */
const MOST_CONFIRMED_AT_ONCE = 5_000;
/** Time limit of one review of a slow service; the next review continues. */
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
      // Polls all, due or not; the planned polls stay as they are.
      const pending = await deps.ledger.pendingInvoices(batchId, page, deps.now() + 1, MOST_POLLED_AT_ONCE);
      await pollStatuses(deps, pending, until);
    } else unfinished = (await pollPending(deps, input, until)) || (confirmed > 0 && deps.now() >= until);
    progress = await deps.ledger.pageProgress(batchId, page);
  }
  requireRunningWorker(over);
  const review = reviewOf(deps, progress, pace);
  if (!unfinished || review.settleEndsInMs === null) return review;
  // The page must not close while invoices wait for their last poll, so the next review follows at once.
  return { ...review, nextAskInMs: 0, settleEndsInMs: Math.max(review.settleEndsInMs, 1) };
}

/** The acceptance time of the newest invoice may be ahead of the clock. Its polls are then due with those of the oldest. */
function hasPollsDue(
  { now }: Pick<ActivityDeps, 'now'>,
  { oldestAcceptedAt, newestAcceptedAt }: PageProgress,
  pace: PollPace,
): boolean {
  return [oldestAcceptedAt, newestAcceptedAt].some((at) => at !== null && pollsDue(pace, ageOf(at, now())) > 0);
}

/** Derives from its progress what a page waits for. */
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
    // If the newest time is of a clock that ran ahead, the oldest time counts.
    settleEndsInMs: Math.max(0, pace.settleMs - (newest === Infinity ? oldest : newest)),
  };
}

/** Number of invoices to poll before the others: an engine that is slow for all of them must not get thousands of polls. */
const FIRST_SAMPLE = 20;
/** A page has 2,000 invoices or somewhat more; the next review polls those beyond this limit. */
const MOST_POLLED_AT_ONCE = 5_000;

/**
 * Polls the pending invoices that are due. The last three polls go to every invoice. Each earlier poll goes to a random
 * sample first, and to samples twice as large while they bring final words. If a sample brings none, the engine needs
 * its time, and no webhook was lost. Returns whether the review ended before it had polled every due invoice.
 */
async function pollPending(deps: ActivityDeps, page: ReviewInput, until: number): Promise<boolean> {
  for (let sample = FIRST_SAMPLE; deps.now() < until; sample *= 2) {
    // Reads again each time, because webhooks that arrive meanwhile make a poll needless.
    const { everyone, sampled, more } = await dueInvoices(deps, page);
    const chosen = [...everyone, ...takeRandom(sampled, sample, deps.random)];
    const { answered, finals, skipped, unanswered } = await pollStatuses(deps, chosen, until);
    // A service that answers nothing is not polled for ever.
    if (answered > 0 && (skipped + unanswered > 0 || more)) return true;
    if (finals === 0 || chosen.length === everyone.length + sampled.length) return false;
  }
  return false;
}

/** `more`: more invoices are pending than one review polls. */
async function dueInvoices(deps: ActivityDeps, { batchId, page, settleMs }: ReviewInput) {
  const now = deps.now();
  const pace = { settleMs, everyMs: deps.settings.pollEveryMs };
  const everyone: PendingInvoice[] = [];
  const sampled: PendingInvoice[] = [];
  const pending = await deps.ledger.pendingInvoices(batchId, page, now, MOST_POLLED_AT_ONCE);
  for (const invoice of pending) {
    // Uses the age of each invoice: in a page that was held up, the first invoice may have waited for hours when the
    // last was accepted.
    const due = pollsDue(pace, ageOf(invoice.acceptedAt, now));
    if (invoice.asks >= due) continue;
    (pollsEveryInvoice(pace, due) ? everyone : sampled).push({ ...invoice, asks: due });
  }
  return { everyone, sampled, more: pending.length === MOST_POLLED_AT_ONCE && everyone.length > 0 };
}

export interface LookInput extends CloseInput {
  /** How long to wait for final words; 0 does not wait. */
  readonly waitMs: number;
}

/** What a page still waits for. */
export interface PageLook extends PageReview {
  /** The page is closed: it waits for nothing. */
  readonly isClosed: boolean;
  /** A review must poll invoices or confirm a failure. */
  readonly isReviewDue: boolean;
}

/** Webhooks write to the ledger. Lote looks again after as long as it has already waited, within these bounds. */
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/**
 * Most looks that wait at the same time in this process. Each takes one of its 40 workflow tasks: many small pages of a slow service would take them
 * all, and other batches, queries and operators' updates would wait for seconds. A look beyond this does not wait; its page waits for a signal.
 */
const waits = createSemaphore(20);

/** Applies stored events of a page and counts what it waits for, without asking the service. Closes the page if it waits for nothing. */
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

/** Waits until no invoice of the page is open, or the time is over. */
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

/** An attempt that is over closes nothing, because its reading may be old. */
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
  /** The trouble that the page last waited for, or null. */
  readonly waitedFor: string | null;
}

/** Reason of an invoice whose page or batch ended its sending before the first try, or that came to this batch after that. */
export const NOT_SENT: Reason = {
  code: 'not-sent',
  message: 'The batch ended before this invoice was sent. Drop the file again to send it.',
};

/** Gives every invoice of the page without a final word its end state, and gives unsent invoices the reason. */
export async function closePage(deps: ActivityDeps, input: CloseInput): Promise<void> {
  const { batchId, page, settleMs, fencingToken } = input;
  const now = deps.now();
  const unsent = unsentReason(input);
  if (unsent !== null) await deps.ledger.holdUnsent(batchId, { reason: unsent, page, now, fencingToken });
  const acceptedBefore = now - settleMs + 1;
  const reasons = { reason: NO_FINAL_ANSWER, unsent: NOT_SENT };
  await deps.ledger.closePage(batchId, page, { acceptedBefore, ...reasons, now, fencingToken });
}

/** Codes of waits for a service profile that is not proved, or was found wrong. */
const UNPROVED = new Set([FIRST_INVOICES_OUT, PROFILE_UNPROVED, ...CALIBRATION_STOPS]);

/** Returns null if an answer of the service already is the reason. */
function unsentReason({ ending, waitedFor }: CloseInput): Reason | null {
  switch (ending) {
    case 'cancelled':
      return BATCH_CANCELLED;
    case 'outage':
      return {
        code: UNPROVED.has(waitedFor ?? '') ? PROFILE_UNPROVED : 'service-away',
        message: `Not sent: the service could not be used for longer than LOTE_OUTAGE_PATIENCE (${waitedFor ?? 'no answer'}). lote status says what does not fit. Drop the file again to send it.`,
      };
    case 'sent':
    case 'send-time':
      return null;
  }
}

/** Reason of an invoice that was unsent when an operator cancelled its batch; its page or the batch records it. */
export const BATCH_CANCELLED: Reason = {
  code: 'batch-cancelled',
  message: 'An operator cancelled what was not sent yet. Run the file again, or retry the batch, to send it.',
};
