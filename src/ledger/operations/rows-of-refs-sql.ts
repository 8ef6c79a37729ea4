/** batchId, references. */
export const ROWS_OF_REFS = `/* rows-of-refs */
SELECT invoice_ref AS ref, file_rows FROM batch_invoice
WHERE batch_id = $1 AND invoice_ref = ANY($2::text[])
ORDER BY ordinal`;
