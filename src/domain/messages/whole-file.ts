import { issuedCount } from '../outcome-counts.ts';
import type { BatchResult } from './messages.ts';

/** The parts of a result that say whether the whole file was issued. */
type Ended = Pick<BatchResult, 'counts' | 'totalsDiffer'>;

/** True if every data row of the file belongs to an issued invoice and the file has its declared control totals. This can hold for a cancelled batch too. */
export function isEveryRowIssued({ counts, totalsDiffer }: Ended): boolean {
  return issuedCount(counts) === (counts.invoices ?? 0) && (counts.rowsLost ?? 0) === 0 && totalsDiffer === undefined;
}

/** True if every data row belongs to an issued invoice, no control total differs and no invoice is in doubt. */
export function isWholeFileIssued(ended: Ended): boolean {
  return isEveryRowIssued(ended) && (ended.counts.contradicted ?? 0) === 0;
}
