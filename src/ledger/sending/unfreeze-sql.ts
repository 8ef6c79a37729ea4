import { fromStates } from '../database/states.ts';

/**
 * batchId, now, reason code, reason message, then arrays: invoiceId, generation. Only the attempt that froze an invoice may put it back, and only
 * while nobody else has been handed it: whoever finds it `sending` makes its exposure `lost`, and this statement then passes it over.
 */
export const UNFREEZE = `/* unfreeze */
WITH item AS (
  SELECT * FROM unnest($5::bigint[], $6::integer[]) AS u(invoice_id, generation)
), target AS (
  SELECT i.invoice_id
  FROM invoice i JOIN item u ON u.invoice_id = i.invoice_id AND u.generation = i.generation
  WHERE i.invoice_id = ANY($5::bigint[]) AND i.owner_batch = $1 AND i.state IN ${fromStates('unfreeze')} AND i.exposure = 'open'
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'staged', exposure = 'none', reason_code = $3, reason_message = $4, changed_at = $2
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ${fromStates('unfreeze')} AND i.exposure = 'open'
RETURNING i.invoice_id`;
