/** batchId: its invoices, and the rows of the file that stand under them. */
export const COUNT_STAGED = `/* count-staged */
SELECT count(*) AS invoices, coalesce(sum(cardinality(file_rows)), 0)::bigint AS rows FROM batch_invoice WHERE batch_id = $1`;
