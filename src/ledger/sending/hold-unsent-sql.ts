import { onPage } from '../batches/page-of-sql.ts';

/** batchId, reason code, reason message, now, merchant's NIF or null, page or null. */
export const HOLD_UNSENT = `/* hold-unsent */
WITH target AS (
  SELECT i.invoice_id
  FROM batch_invoice bi
  JOIN batch b ON b.batch_id = bi.batch_id
  JOIN invoice i ON i.invoice_id = bi.invoice_id
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1
    AND (i.state = 'staged' OR (i.state = 'sending' AND i.exposure = 'none'))
    AND ($5::text IS NULL OR i.merchant_nif = $5)
    AND ($6::integer IS NULL OR ${onPage('$6')})
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'held', reason_code = $2, reason_message = $3, changed_at = $4
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.owner_batch = $1
  AND (i.state = 'staged' OR (i.state = 'sending' AND i.exposure = 'none'))
RETURNING i.invoice_id`;
