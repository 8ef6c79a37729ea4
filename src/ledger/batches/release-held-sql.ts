import { CLOSED_BATCH_STATES, fromStates } from '../database/states.ts';

/**
 * batchId, now. Held invoices of the batch go again, and unsent ones whose owner is closed come over to it. One whose earlier generation
 * turned out to be issued never goes by itself.
 */
export const RELEASE_HELD = `/* release-held */
WITH target AS (
  SELECT i.invoice_id
  FROM batch_invoice bi
  JOIN invoice i ON i.invoice_id = bi.invoice_id
  JOIN batch owner ON owner.batch_id = i.owner_batch
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL
    AND NOT i.flags @> '{issued-in-earlier-generation}'
    AND ((i.owner_batch = $1 AND i.state IN ${fromStates('release')})
      OR (i.owner_batch <> $1 AND owner.state IN ${CLOSED_BATCH_STATES} AND i.state IN ('staged', 'held')))
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'staged', owner_batch = $1, reason_code = NULL, reason_message = NULL, changed_at = $2
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ('staged', 'held')
RETURNING i.invoice_id`;
