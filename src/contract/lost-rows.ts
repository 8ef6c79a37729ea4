import type { BatchResult } from './messages.ts';

/** Rows of a batch that nobody finds in an invoice. A totals row is in none either, and nothing of it is missing. Results of earlier versions lack `rowsLost`. */
export function lostRowsOf({ rowsLost, rowsWithoutInvoice }: BatchResult['counts']): number {
  return rowsLost ?? rowsWithoutInvoice ?? 0;
}
