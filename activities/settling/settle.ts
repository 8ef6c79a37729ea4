import { pollsDue, nextPollInMs, type PollPace } from '../../src/domain/time/poll-times.ts';
import { ageOf } from '../../src/domain/time/is-ahead.ts';
import type { PageProgress } from '../../src/domain/ports/ledger/settling-ledger.ts';
import { pollStatuses } from './poll-statuses.ts';
import { pollNow, pollPending } from './poll-pending.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, requireRunningWorker } from '../attempt-over.ts';

export interface ReviewInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
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
    if (pollAll) await pollNow(deps, input, until);
    else unfinished = (await pollPending(deps, input, until)) || (confirmed > 0 && deps.now() >= until);
    progress = await deps.ledger.pageProgress(batchId, page);
  }
  requireRunningWorker(over);
  const review = reviewOf(deps, progress, pace);
  if (!unfinished || review.settleEndsInMs === null) return review;
  // The page must not close while invoices wait for their last poll: the next review goes on at once.
  return { ...review, nextAskInMs: 0, settleEndsInMs: Math.max(review.settleEndsInMs, 1) };
}

/** Whether a review has something to ask the service about the page. */
export function isPollDue(deps: Pick<ActivityDeps, 'now'>, progress: PageProgress, pace: PollPace): boolean {
  return progress.reportedFailed > 0 || hasPollsDue(deps, progress, pace);
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
export function reviewOf(deps: Pick<ActivityDeps, 'now'>, progress: PageProgress, pace: PollPace): PageReview {
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
