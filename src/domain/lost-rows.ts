import type { Finding } from './invoice.ts';

/**
 * Rows that belong to no invoice and are no totals rows: each may be a lost line, or a lost invoice. Findings of a file are bounded; a totals
 * row whose finding was left out counts as lost, which errs on the loud side.
 */
export function lostRows(rowsWithoutInvoice: number, fileFindings: readonly Finding[]): number {
  return rowsWithoutInvoice - fileFindings.filter(({ code }) => code === 'totals-row').length;
}
