/** What the service has said of the invoices that a batch sends: numbers of invoices. */
export interface AnswerCounts {
  /** POSTs that were refused for good. */
  readonly refused: number;
  /** POSTs that were accepted, whatever became of the invoice later. */
  readonly accepted: number;
  readonly issued: number;
  /** Failed, confirmed, and not sent again by the retry policy of the service profile. */
  readonly failed: number;
  /** Failed, and the retry policy sends them again. */
  readonly retryable: number;
  /** Accepted, without a final word. */
  readonly pending: number;
  /** A POST may have arrived, or will be repeated; no answer is final. */
  readonly unanswered: number;
}

const NOTHING: AnswerCounts = {
  ...{ refused: 0, accepted: 0, issued: 0, failed: 0 },
  ...{ retryable: 0, pending: 0, unanswered: 0 },
};

/** The answers since `before`. What an earlier run or round met does not count for this one. */
export function answersSince(now: AnswerCounts, before: AnswerCounts = NOTHING): AnswerCounts {
  const since = (Object.keys(before) as (keyof AnswerCounts)[]).map((of) => [of, Math.max(0, now[of] - before[of])]);
  return Object.fromEntries(since) as Record<keyof AnswerCounts, number>;
}

/** True when all counts are 0: the service has said nothing of these invoices, and none of them waits for an answer. */
export function isNothing(counts: AnswerCounts): boolean {
  return Object.values(counts).every((invoices) => invoices === 0);
}

/** Below this many answers, or final words, a share says nothing. */
const FEWEST = 50;

type Shared = Pick<AnswerCounts, 'refused' | 'accepted' | 'issued' | 'failed'>;

/**
 * The share of a batch that goes wrong, 0 to 1: r + (1 - r) * f, where r is the refused share of the answers and f the failed share of the final words
 * (issued and failed). Each of the two counts from 50 on.
 */
export function failureShare({ refused, accepted, issued, failed }: Shared): number {
  const r = shareOf(refused, refused + accepted);
  return r + (1 - r) * shareOf(failed, issued + failed);
}

/** The largest share that so many refusals and failures can come to, whatever else the service has said. */
export function largestFailureShare({ refused, failed }: Pick<Shared, 'refused' | 'failed'>): number {
  const accepted = Math.max(0, FEWEST - refused);
  const issued = Math.max(0, FEWEST - failed);
  return failureShare({ refused, accepted, failed, issued });
}

function shareOf(part: number, all: number): number {
  return all < FEWEST ? 0 : part / all;
}

/** Enough to see that nothing of a file is wanted, few enough to be asked about by telephone. */
export const FIRST_INVOICES = 20;
/** A small batch has no first invoices: it is as large as its own sample. */
export const SMALLEST_BATCH_WITH_FIRST = 10 * FIRST_INVOICES;

/** Fewer than this say nothing of a batch of hundreds. */
const FEWEST_BAD = 10;
/** A good file waits no longer than this for the final words of its first invoices … */
const LONGEST_WAIT_MS = 30_000;
/** … nor longer than this share of the settle time. */
const WAIT_SHARE = 4;

/** How long the final words of the first invoices are waited for, in ms. */
export function firstInvoicesWaitMs(settleMs: number): number {
  return Math.min(LONGEST_WAIT_MS, Math.round(settleMs / WAIT_SHARE));
}

/** Whether enough of the first invoices got an answer to judge the file by them; `left` are those that are still to be sent. */
export function isSampleSent({ from, to }: { readonly from: number; readonly to: number }, left: number): boolean {
  return left * 2 <= to - from + 1;
}

/** Whether more final words could change what is known: an issued one proves that the file as a whole is wanted. */
export function mayStillDecide({ refused, issued, failed, pending }: AnswerCounts): boolean {
  return issued === 0 && pending > 0 && refused + failed + pending >= FEWEST_BAD;
}

export type FirstInvoicesVerdict = 'go-on' | 'refused' | 'failed';

/**
 * Whether the first invoices of a batch prove that something is wrong with the file as a whole: ten or more went wrong, and none was issued. Refusals alone
 * prove it only when nothing else is open. With failures, open ones are no objection when the budget is spent even if all of them are issued.
 */
export function judgeFirstInvoices(counts: AnswerCounts, failureBudget: number): FirstInvoicesVerdict {
  const { refused, issued, failed, retryable, pending, unanswered } = counts;
  const bad = refused + failed;
  const open = retryable + pending + unanswered;
  if (issued > 0 || bad < FEWEST_BAD) return 'go-on';
  if (failed === 0) return open === 0 ? 'refused' : 'go-on';
  return open === 0 || bad > failureBudget * (bad + open) ? 'failed' : 'go-on';
}
