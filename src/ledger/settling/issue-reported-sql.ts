import { PAGE_OF } from '../batches/page-of-sql.ts';
import { isOfApplication } from './same-application-sql.ts';
import { stateList } from '../database/states.ts';

/** Those of `issue` whose last word was none: what was called failed before gets a flag with its new state. */
const WAITING = stateList(['accepted', 'unsettled']);

/** When the first event called it issued; null where none did, or another called it failed. */
const ISSUED_AT = `(
  SELECT CASE WHEN bool_and(d.verdict = 'issued') THEN min(d.received_at) END AS at
  FROM delivery d WHERE d.service_id = i.service_id AND d.verdict IS NOT NULL AND ${isOfApplication('i.application')})`;

/**
 * serviceIds: what nearly every event says. An invoice that waits, about which `issued` events are stored and no
 * `failed` one, is issued; the result is one row for every batch that it belongs to and that has pages, or one without a
 * batch. Everything else is left as it is, and is judged by `APPLY_EVENTS`. Runs after the commit of the events, as that
 * one does. Each row is looked up by itself (scalar subqueries, OFFSET 0): the planner takes a growing table for a small
 * one, and would join by reading all of it. The update finds its rows by their invoice ids (no index
 * serves array_position), in whose order others lock them where the planner goes through the index; of two that lock each other PostgreSQL ends one,
 * which is repeated. It asks everything again of a row that somebody else held.
 */
export const ISSUE_REPORTED = `/* issue-reported */
WITH moved AS (
  UPDATE invoice i SET state = 'issued', (settled_at, changed_at) = (SELECT issued.at, issued.at FROM ${ISSUED_AT} issued),
    reason_code = NULL, reason_message = NULL
  WHERE i.invoice_id = ANY(ARRAY(SELECT named.invoice_id FROM invoice named WHERE named.service_id = ANY($1::text[])))
    AND array_position($1::text[], i.service_id) IS NOT NULL AND i.state IN ${WAITING} AND ${ISSUED_AT} IS NOT NULL
  RETURNING i.invoice_id, i.service_id
)
SELECT m.invoice_id, m.service_id, l.batch_id, l.workflow_id, l.page, l.ordinal, 'issued' AS state
FROM moved m
LEFT JOIN LATERAL (
  SELECT b.batch_id, b.workflow_id, ${PAGE_OF} AS page, bi.ordinal
  FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id AND b.page_size > 0
  WHERE bi.invoice_id = m.invoice_id AND bi.outcome IS NULL
  OFFSET 0
) l ON true
ORDER BY l.batch_id, l.ordinal`;
