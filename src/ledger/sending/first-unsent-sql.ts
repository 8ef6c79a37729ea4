/** batchId, limit: where the first of its unsent invoices stand. */
export const FIRST_UNSENT = `/* first-unsent */
SELECT bi.ordinal
FROM batch_invoice bi JOIN invoice i ON i.invoice_id = bi.invoice_id
WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state IN ('staged', 'sending')
ORDER BY bi.ordinal
LIMIT $2`;
