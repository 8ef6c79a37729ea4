/**
 * serviceIds of stored events; then arrays of what a GET said was issued: serviceId, when. `issued` for the document of an earlier generation. That generation is issued after all: its batches say so, the
 * invoice is flagged, and what was not sent yet of the corrected one is held until an operator has decided.
 */
export const APPLY_PAST_EVENTS = `/* apply-past-events */
WITH news AS (
  SELECT service_id, min(issued_at) AS issued_at FROM (
    SELECT u.service_id, d.received_at AS issued_at
    FROM unnest($1::text[]) AS u(service_id)
    CROSS JOIN LATERAL (SELECT received_at FROM delivery WHERE service_id = u.service_id AND verdict = 'issued' ORDER BY received_at LIMIT 1) d
    UNION ALL
    SELECT * FROM unnest($2::text[], $3::bigint[]) AS told(service_id, issued_at)
  ) said
  GROUP BY service_id
), past AS (
  UPDATE invoice_generation g SET state = 'issued', settled_at = n.issued_at, reason_code = NULL, reason_message = NULL,
    flags = g.flags || '{issued-after-failed}'::text[]
  FROM news n
  WHERE g.service_id = n.service_id AND g.state <> 'issued'
  RETURNING g.invoice_id, g.generation, g.service_id
), warned AS (
  UPDATE invoice i SET
    flags = i.flags || '{issued-in-earlier-generation}'::text[],
    state = CASE WHEN i.state = 'staged' THEN 'held' ELSE i.state END,
    reason_code = CASE WHEN i.state IN ('staged', 'held') THEN 'issued-in-earlier-generation' ELSE i.reason_code END,
    reason_message = CASE WHEN i.state IN ('staged', 'held')
      THEN 'The service issued the earlier content of this invoice after it had called it failed; decide whether the corrected one must go too'
      ELSE i.reason_message END
  FROM past p
  WHERE i.invoice_id = p.invoice_id AND NOT i.flags @> '{issued-in-earlier-generation}'
), told AS (
  UPDATE batch_invoice bi SET outcome = 'issued'
  FROM past p
  WHERE bi.invoice_id = p.invoice_id AND bi.generation = p.generation
  RETURNING bi.batch_id, bi.ordinal, p.invoice_id, p.service_id
)
SELECT bi.service_id, bi.invoice_id, b.batch_id, b.workflow_id, (bi.ordinal - 1) / b.page_size + 1 AS page, bi.ordinal, 'issued' AS state
FROM told bi JOIN batch b ON b.batch_id = bi.batch_id
ORDER BY b.batch_id, bi.ordinal`;
