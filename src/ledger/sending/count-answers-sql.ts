/**
 * batchId, first ordinal, last ordinal, reason codes of the retry policy, generations that it allows. What the policy sends again is told apart: not what only
 * an event called failed, nor what has its last generation. Invoices that another batch sends are not counted.
 */
export const COUNT_ANSWERS = `/* count-answers */
WITH own AS (
  SELECT i.state, i.state = 'failed' AND i.reason_code = ANY($4::text[]) AND i.generation < $5::integer
    AND NOT i.flags @> '{failure-unconfirmed}' AS retryable
  FROM batch_invoice bi JOIN invoice i ON i.invoice_id = bi.invoice_id
  WHERE bi.batch_id = $1 AND bi.ordinal BETWEEN $2 AND $3 AND bi.outcome IS NULL AND i.owner_batch = $1
)
SELECT
  count(*) FILTER (WHERE state = 'rejected') AS refused,
  count(*) FILTER (WHERE state IN ('accepted', 'issued', 'failed', 'unsettled')) AS accepted,
  count(*) FILTER (WHERE state = 'issued') AS issued,
  count(*) FILTER (WHERE state = 'failed' AND NOT retryable) AS failed,
  count(*) FILTER (WHERE retryable) AS retryable,
  count(*) FILTER (WHERE state = 'accepted') AS pending,
  count(*) FILTER (WHERE state IN ('sending', 'unknown', 'unsettled')) AS unanswered
FROM own`;
