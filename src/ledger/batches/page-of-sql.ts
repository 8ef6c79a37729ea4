/** (page, ordinal) is fixed by the batch's page size, so the page is computed and never stored. Needs `bi` and `b`. */
export const PAGE_OF = '((bi.ordinal - 1) / b.page_size + 1)';

/** The ordinals of one page, as a range of batch_invoice's primary key. */
export function onPage(page: string): string {
  return `bi.ordinal BETWEEN (${page} - 1) * b.page_size + 1 AND ${page} * b.page_size`;
}

/**
 * The invoices of page $2 of batch $1 as an array, computed once, for `= ANY`. As a mere join the planner, which takes a page for a few rows,
 * reads whole tables (measured on 20,000 invoices: 20 ms against 2, and growing with the ledger).
 */
export const PAGE_INVOICES = `ARRAY(
  SELECT bi.invoice_id FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id
  WHERE bi.batch_id = $1 AND ${onPage('$2::integer')} AND bi.outcome IS NULL)`;

/** The invoices of batch $1 with ordinals from $2 to $3: see PAGE_INVOICES. */
export const SLICE_INVOICES = `ARRAY(
  SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = $1 AND bi.ordinal BETWEEN $2 AND $3 AND bi.outcome IS NULL)`;
