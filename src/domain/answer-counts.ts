/** The answers of the service about the invoices that a batch sends, as numbers of invoices. */
export interface AnswerCounts {
  /** POSTs that the service refused for good. */
  readonly refused: number;
  /** POSTs that the service accepted, in whatever state the invoices are now. */
  readonly accepted: number;
  readonly issued: number;
  /** Failed and confirmed invoices that the retry policy of the service profile does not send again. */
  readonly failed: number;
  /** Failed invoices that the retry policy sends again. */
  readonly retryable: number;
  /** Accepted invoices without a final word. */
  readonly pending: number;
  /** Invoices whose POST may have arrived or will be repeated, without a final answer. */
  readonly unanswered: number;
}

const NOTHING: AnswerCounts = {
  ...{ refused: 0, accepted: 0, issued: 0, failed: 0 },
  ...{ retryable: 0, pending: 0, unanswered: 0 },
};

/** Returns the answers since `before`, because the answers of an earlier run or round do not count for this one. */
export function answersSince(now: AnswerCounts, before: AnswerCounts = NOTHING): AnswerCounts {
  const since = (Object.keys(before) as (keyof AnswerCounts)[]).map((of) => [of, Math.max(0, now[of] - before[of])]);
  return Object.fromEntries(since) as Record<keyof AnswerCounts, number>;
}

/** True if all counts are 0: the service has answered for none of these invoices, and none waits for an answer. */
export function isNothing(counts: AnswerCounts): boolean {
  return Object.values(counts).every((invoices) => invoices === 0);
}

/** A share of fewer answers or final words than this says nothing. */
const FEWEST = 50;

type Shared = Pick<AnswerCounts, 'refused' | 'accepted' | 'issued' | 'failed'>;

/**
 * Returns the share of a batch that goes wrong, 0 to 1: r + (1 - r) * f. Here r is the refused share of the answers,
 * and f is the failed share of the final words (issued and failed). Each share is 0 below 50 answers or final words.
 */
export function failureShare({ refused, accepted, issued, failed }: Shared): number {
  const r = shareOf(refused, refused + accepted);
  return r + (1 - r) * shareOf(failed, issued + failed);
}

/** Returns the largest share that these refusals and failures can reach, whatever the other answers are. */
export function largestFailureShare({ refused, failed }: Pick<Shared, 'refused' | 'failed'>): number {
  const accepted = Math.max(0, FEWEST - refused);
  const issued = Math.max(0, FEWEST - failed);
  return failureShare({ refused, accepted, failed, issued });
}

function shareOf(part: number, all: number): number {
  return all < FEWEST ? 0 : part / all;
}

/** Enough invoices to see that the service accepts nothing of a file, and few enough to discuss on the telephone. */
export const FIRST_INVOICES = 20;
/** Smaller batches have no first invoices, because the sample would be a large part of the batch. */
export const SMALLEST_BATCH_WITH_FIRST = 10 * FIRST_INVOICES;

/** Fewer bad invoices than this say nothing about a batch of hundreds. */
const FEWEST_BAD = 10;
/** A good file waits for the final words of its first invoices no longer than this time, ... */
const LONGEST_WAIT_MS = 30_000;
/** ... and no longer than the settle time divided by this number. */
const WAIT_SHARE = 4;

/** Returns how long a batch waits for the final words of its first invoices, in milliseconds. */
export function firstInvoicesWaitMs(settleMs: number): number {
  return Math.min(LONGEST_WAIT_MS, Math.round(settleMs / WAIT_SHARE));
}

/** True if at least half of the first invoices are sent, enough to judge the file. `left` is the number of unsent ones. */
export function isSampleSent({ from, to }: { readonly from: number; readonly to: number }, left: number): boolean {
  return left * 2 <= to - from + 1;
}

/** True if more final words could change the verdict. One issued invoice proves that the file as a whole is not wrong. */
export function mayStillDecide({ refused, issued, failed, pending }: AnswerCounts): boolean {
  return issued === 0 && pending > 0 && refused + failed + pending >= FEWEST_BAD;
}

export type FirstInvoicesVerdict = 'go-on' | 'refused' | 'failed';

/**
 * Says whether the first invoices prove the whole file wrong: ten or more are bad and none is issued. If all bad ones were
 * refused, no invoice may be open. If some failed, open ones do not matter when the budget is spent even if all are issued.
 */
export function judgeFirstInvoices(counts: AnswerCounts, failureBudget: number): FirstInvoicesVerdict {
  const { refused, issued, failed, retryable, pending, unanswered } = counts;
  const bad = refused + failed;
  const open = retryable + pending + unanswered;
  if (issued > 0 || bad < FEWEST_BAD) return 'go-on';
  if (failed === 0) return open === 0 ? 'refused' : 'go-on';
  return open === 0 || bad > failureBudget * (bad + open) ? 'failed' : 'go-on';
}
