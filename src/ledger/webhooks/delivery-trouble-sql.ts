/** A service that delivers for others too may bring millions: more than this many need not be counted. */
const MOST_COUNTED = 10_000;

/** Since. Correctly signed bytes that could not be read, and final words about service ids that no invoice has, nor ever had. */
export const DELIVERY_TROUBLE = `/* delivery-trouble */
SELECT
  (SELECT count(*) FROM (
    SELECT FROM delivery WHERE received_at >= $1 AND event_type IS NULL LIMIT ${MOST_COUNTED}
  ) unreadable) AS unreadable,
  (SELECT count(*) FROM (
    SELECT FROM delivery d
    WHERE d.received_at >= $1 AND d.verdict IS NOT NULL
      AND NOT EXISTS (SELECT FROM invoice i WHERE i.service_id = d.service_id)
      AND NOT EXISTS (SELECT FROM invoice_generation g WHERE g.service_id = d.service_id)
    LIMIT ${MOST_COUNTED}
  ) strange) AS unknown_ids`;
