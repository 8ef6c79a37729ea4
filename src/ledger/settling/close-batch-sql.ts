import { OPEN_STATES } from '../../domain/invoice-state.ts';
import { stateList } from '../database/states.ts';

/**
 * batchId, reason code, reason message, now: what a page that failed left open. As `close-page`, for all pages and for what this batch owns
 * alone; other batches' invoices are theirs to close.
 */
export const CLOSE_BATCH = `/* close-batch */
WITH target AS (
  SELECT i.invoice_id
  FROM batch_invoice bi
  JOIN invoice i ON i.invoice_id = bi.invoice_id
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state IN ${stateList(OPEN_STATES)}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET
  state = CASE
    WHEN i.state = 'accepted' THEN 'unsettled'
    WHEN i.state = 'staged' OR i.exposure = 'none' THEN 'held'
    ELSE 'unknown' END,
  reason_code = CASE WHEN i.state <> 'accepted' THEN coalesce(i.reason_code, $2) ELSE $2 END,
  reason_message = CASE WHEN i.state <> 'accepted' AND i.reason_code IS NOT NULL THEN i.reason_message ELSE $3 END,
  changed_at = $4
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.owner_batch = $1 AND i.state IN ${stateList(OPEN_STATES)}
RETURNING i.invoice_id`;
