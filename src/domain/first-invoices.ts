import type { AnswerCounts } from './answer-counts.ts';

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
