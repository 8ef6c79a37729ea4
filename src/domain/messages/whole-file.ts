import { issuedCount } from '../outcome-counts.ts';
import type { BatchResult } from './messages.ts';

/** What tells whether a file went out as a whole. */
type Ended = Pick<BatchResult, 'counts' | 'totalsDiffer'>;

/** Whether every data row of the file stands in an issued invoice, and no control totals that were declared for it differ. A cancelled batch may be whole, too. */
export function isEveryRowIssued({ counts, totalsDiffer }: Ended): boolean {
  return issuedCount(counts) === (counts.invoices ?? 0) && (counts.rowsLost ?? 0) === 0 && totalsDiffer === undefined;
}

/** Whether every data row stands in an issued invoice, no control total differs and no invoice is in doubt. */
export function isWholeFileIssued(ended: Ended): boolean {
  return isEveryRowIssued(ended) && (ended.counts.contradicted ?? 0) === 0;
}
