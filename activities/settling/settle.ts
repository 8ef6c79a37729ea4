import { pollsDue, nextAskInMs } from '../../src/domain/poll-times.ts';
import type { PageProgress } from '../../src/domain/ports/ledger.ts';
import { pollStatuses } from './poll-statuses.ts';
import { pollNow, pollPending } from './poll-pending.ts';
import type { ActivityDeps } from '../deps.ts';

export interface ReviewInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  readonly settleMs: number;
  /** An operator wants every silent invoice asked for, whether or not it is due. */
  readonly askNow?: boolean;
}

/** Times are spans, not moments: the clocks of worker and Temporal server need not agree. */
export interface PageReview {
  readonly accepted: number;
  /** To be sent by another batch that is not closed. */
  readonly attached: number;
  /** Until a GET of one of the accepted is due; null: none is left to ask. */
  readonly nextAskInMs: number | null;
  /** Until the settle time of all accepted is over; null: none waits. */
  readonly settleEndsInMs: number | null;
}

/** Reported failures of one page that are asked for in one review. */
const MOST_FAILURES_AT_ONCE = 5_000;
/** A review of a slow service ends after this; the next one goes on. */
const LONGEST_REVIEW_MS = 60_000;

/** Reads where a page stands; confirms reported failures and asks for silent invoices by GET on the way. */
export async function reviewPage(deps: ActivityDeps, input: ReviewInput): Promise<PageReview> {
  const { batchId, page, settleMs } = input;
  const until = deps.now() + LONGEST_REVIEW_MS;
  const failures = await deps.ledger.unconfirmedFailures(batchId, page, MOST_FAILURES_AT_ONCE);
  const reported = await pollStatuses(deps, failures, until);
  let progress = await deps.ledger.pageProgress(batchId, page);
  const askNow = input.askNow === true && progress.accepted > 0;
  let unfinished = false;
  if (askNow || pollsDue(settleMs, ageOf(deps, progress.oldestAcceptedAt)) > 0) {
    if (askNow) await pollNow(deps, input, until);
    else unfinished = (await pollPending(deps, input, until)) || (reported.answered > 0 && deps.now() >= until);
    progress = await deps.ledger.pageProgress(batchId, page);
  }
  const review = standing(deps, progress, settleMs);
  if (!unfinished || review.settleEndsInMs === null) return review;
  // The page must not close while invoices wait for their last question: the next review goes on at once.
  return { ...review, nextAskInMs: 0, settleEndsInMs: Math.max(review.settleEndsInMs, 1) };
}

function standing(deps: Pick<ActivityDeps, 'now'>, progress: PageProgress, settleMs: number): PageReview {
  const { accepted, attached, oldestAcceptedAt, newestAcceptedAt } = progress;
  if (accepted === 0 || newestAcceptedAt === null) {
    return { accepted: 0, attached, nextAskInMs: null, settleEndsInMs: null };
  }
  const newest = ageOf(deps, newestAcceptedAt);
  const asks = [nextAskInMs(settleMs, ageOf(deps, oldestAcceptedAt)), nextAskInMs(settleMs, newest)];
  const left = asks.filter((span) => span !== null);
  return {
    accepted,
    attached,
    nextAskInMs: left.length === 0 ? null : Math.min(...left),
    settleEndsInMs: Math.max(0, settleMs - newest),
  };
}

function ageOf({ now }: Pick<ActivityDeps, 'now'>, acceptedAt: number | null): number {
  return acceptedAt === null ? 0 : now() - acceptedAt;
}
