import { SLICE_INVOICES } from '../batches/page-of-sql.ts';

/**
 * batchId, from, to. An invoice found `sending` was left so: where no answer was written since, a crash may have lost one; where
 * every answer was written, the POST that comes now is open again.
 */
export const NOTE_INTERRUPTED_SENDS = `/* note-interrupted-sends */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${SLICE_INVOICES})
    AND i.owner_batch = $1 AND i.state = 'sending' AND i.exposure <> 'lost'
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET exposure = CASE i.exposure WHEN 'none' THEN 'open' ELSE 'lost' END
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state = 'sending'`;
