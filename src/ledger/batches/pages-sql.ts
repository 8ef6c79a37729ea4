/** (page, ordinal) is fixed by the batch's page size, so the page is computed and never stored. Needs `bi` and `b`. */
export const PAGE_OF = '((bi.ordinal - 1) / b.page_size + 1)';

const PAGE_SIZE = '(SELECT page_size FROM batch WHERE batch_id = $1)';

/**
 * The ordinals of one page of batch $1, as a range of batch_invoice's primary key. The page size is a subquery: in a join the planner may make it a filter
 * on all lines of the batch.
 */
export function onPage(page: string, line = 'i'): string {
  return `${line}.ordinal BETWEEN (${page} - 1) * ${PAGE_SIZE} + 1 AND ${page} * ${PAGE_SIZE}`;
}

/** That a line is one of page $2 of batch $1. */
export function isOfPage(line = 'i'): string {
  return `${line}.batch_id = $1 AND ${onPage('$2::integer', line)}`;
}

/** The merchant `m` of an invoice `i`, for a JOIN: none where the service lists another id for it than the one that was used. */
export const MERCHANT_OF_INVOICE =
  'm.application = i.application AND m.nif = i.merchant_nif AND m.listed_id = m.merchant_id';

/**
 * The invoices of batch $1 whose lines `i` are live and meet `condition`, as an array that is computed once, for `= ANY`. In a join the planner takes a page
 * for a few rows and reads whole tables (measured on 20,000 invoices: 20 ms against 2).
 */
export function invoicesOfBatch(condition: string): string {
  return `ARRAY(SELECT i.invoice_id FROM live_line i WHERE i.batch_id = $1 AND ${condition})`;
}

/** The same of page $2, without a look at the invoices. */
export const PAGE_INVOICES = `ARRAY(SELECT i.invoice_id FROM batch_invoice i WHERE ${isOfPage()} AND i.outcome IS NULL)`;
