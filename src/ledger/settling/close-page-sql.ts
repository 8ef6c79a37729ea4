import { PAGE_INVOICES } from '../batches/page-of-sql.ts';
import { fromStates } from '../database/states.ts';

const OVER = `((i.state IN ${fromStates('silence')} AND i.accepted_at < $3) OR (i.owner_batch = $1 AND i.state IN ('staged', 'sending')))`;

/**
 * batchId, page, acceptedBefore, reason code, reason message, now. `sending` becomes `held` only where every answer is written and none was
 * lost; the reason that its last try left is worth more than the page's.
 */
export const CLOSE_PAGE = `/* close-page */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${PAGE_INVOICES}) AND ${OVER}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET
  state = CASE
    WHEN i.state = 'accepted' THEN 'unsettled'
    WHEN i.state = 'staged' OR i.exposure = 'none' THEN 'held'
    ELSE 'unknown' END,
  reason_code = CASE WHEN i.state <> 'accepted' THEN coalesce(i.reason_code, $4) ELSE $4 END,
  reason_message = CASE WHEN i.state <> 'accepted' AND i.reason_code IS NOT NULL THEN i.reason_message ELSE $5 END,
  changed_at = $6
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${OVER}`;
