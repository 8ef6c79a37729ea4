/** (page, ordinal) is fixed by the batch's page size, so the page is computed and never stored. Needs `bi` and `b`. */
export const PAGE_OF = '((bi.ordinal - 1) / b.page_size + 1)';

const PAGE_SIZE = '(SELECT page_size FROM batch WHERE batch_id = $1)';

/**
 * The ordinals of one page of batch $1, as a range of batch_invoice's primary key. The size of the page is asked for by itself: joined, it may
 * become a filter on all lines of the batch, which the planner takes for one while there are no statistics of them.
 */
export function onPage(page: string): string {
  return `bi.ordinal BETWEEN (${page} - 1) * ${PAGE_SIZE} + 1 AND ${page} * ${PAGE_SIZE}`;
}

/** The lines `bi` of page $2 of batch $1. */
export const LINES_OF_PAGE = `bi.batch_id = $1 AND ${onPage('$2::integer')}`;

/**
 * The invoice `i` of a line `bi`, for a JOIN: looked up by itself (OFFSET 0), whatever else is known of it. Else the planner
 * may read all invoices of the ledger for the lines of one batch, or search an array of a slice again for each of its lines.
 */
export const INVOICE_OF_LINE = `LATERAL (SELECT * FROM invoice own WHERE own.invoice_id = bi.invoice_id OFFSET 0) i ON true`;

/**
 * The invoices of page $2 of batch $1 as an array, computed once, for `= ANY`. As a mere join the planner, which takes a page for a few rows,
 * reads whole tables (measured on 20,000 invoices: 20 ms against 2, and growing with the ledger).
 */
export const PAGE_INVOICES = `ARRAY(
  SELECT bi.invoice_id FROM batch_invoice bi WHERE ${LINES_OF_PAGE} AND bi.outcome IS NULL)`;

/**
 * The invoices of batch $1 whose lines are its own and for which `condition` on `bi` and `i` holds, as an array, computed once: see PAGE_INVOICES.
 * A statement that locks them proves the condition again.
 */
export function invoicesOfBatch(condition: string): string {
  return `ARRAY(
    SELECT i.invoice_id FROM batch_invoice bi JOIN ${INVOICE_OF_LINE}
    WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND ${condition})`;
}

/** The invoices of batch $1 with ordinals from $2 to $3: see PAGE_INVOICES. */
export const SLICE_INVOICES = `ARRAY(
  SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = $1 AND bi.ordinal BETWEEN $2 AND $3 AND bi.outcome IS NULL)`;
