import type { BatchResult } from './messages.ts';

/** Rows of a batch that nobody finds in an invoice. A totals row is in none either, and nothing of it is missing. Results of earlier versions lack `rowsLost`. */
export function lostRowsOf({ rowsLost, rowsWithoutInvoice }: BatchResult['counts']): number {
  return rowsLost ?? rowsWithoutInvoice ?? 0;
}

/** Whether every data row of the file stands in an issued invoice, none of them is in doubt, and no control totals that were declared for it differ. A cancelled batch may be whole, too. */
export function isWholeFileIssued({ counts, totalsDiffer }: Pick<BatchResult, 'counts' | 'totalsDiffer'>): boolean {
  const issued = (counts.issued ?? 0) + (counts['already-issued'] ?? 0);
  const isCertain = (counts.contradicted ?? 0) === 0;
  return issued === (counts.invoices ?? 0) && isCertain && lostRowsOf(counts) === 0 && totalsDiffer === undefined;
}
