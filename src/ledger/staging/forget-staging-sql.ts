/** batchId: what it never sent and another batch waits for goes to the oldest of those batches. */
export const PASS_ON_UNSENT = `/* pass-on-unsent */
UPDATE invoice i SET owner_batch = heir.batch_id
FROM (
  SELECT DISTINCT ON (other.invoice_id) other.invoice_id, other.batch_id
  FROM batch_invoice mine
  JOIN batch_invoice other ON other.invoice_id = mine.invoice_id AND other.batch_id <> $1 AND other.outcome IS NULL
  JOIN batch b ON b.batch_id = other.batch_id
  WHERE mine.batch_id = $1
  ORDER BY other.invoice_id, b.seq
) heir
WHERE i.invoice_id = heir.invoice_id AND i.owner_batch = $1 AND i.state = 'staged'`;

/** batchId: what only this staging knew and nobody ever sent. */
export const FORGET_UNSENT = `/* forget-unsent */
WITH forgotten AS (
  DELETE FROM invoice i USING batch_invoice bi
  WHERE bi.batch_id = $1 AND bi.invoice_id = i.invoice_id AND i.owner_batch = $1
    AND i.state = 'staged' AND i.generation = 1 AND i.attempts = 0
  RETURNING i.invoice_id
)
DELETE FROM invoice_content c USING forgotten f WHERE c.invoice_id = f.invoice_id`;

/** batchId. */
export const FORGET_BATCH_INVOICES = `/* forget-batch-invoices */
DELETE FROM batch_invoice WHERE batch_id = $1`;

/** batchId. */
export const FORGET_FINDINGS = `/* forget-findings */
DELETE FROM finding WHERE batch_id = $1`;
