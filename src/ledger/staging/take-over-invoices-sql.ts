/** batchId, now, invoiceIds: unsent invoices of closed batches go to this batch. */
export const TAKE_OVER_INVOICES = `/* take-over-invoices */
UPDATE invoice SET owner_batch = $1, state = 'staged', reason_code = NULL, reason_message = NULL, changed_at = $2
WHERE invoice_id = ANY($3::bigint[]) AND state IN ('staged', 'held')`;
