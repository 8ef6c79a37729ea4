import { PAGE_OF } from '../batches/page-of-sql.ts';
import { FLAGS_WITHOUT_OLDER_LEDGER } from './other-document-sql.ts';
import { isOfApplication } from './same-application-sql.ts';
import { ofItem } from '../database/of-item.ts';
import { stateList } from '../database/states.ts';

/** Those of `issue` whose last word was none: what was called failed before gets a flag with its new state. */
const WAITING = stateList(['accepted', 'unsettled']);

const IDS = '(SELECT r.ids FROM reported r)';

/**
 * serviceIds: what nearly every event says. An invoice that waits, about which `issued` events are stored and no
 * `failed` one, is issued; one that is issued already stays so, as where the event came before its answer was written.
 * The result is one row for every batch that such an invoice belongs to and that has pages, or one without a
 * batch. Everything else is left as it is, and is judged by `APPLY_EVENTS`. Runs after the commit of the events, as that
 * one does. Each row is looked up by itself (OFFSET 0), and the update is given arrays: the planner takes a growing table
 * for a small one, and would join by reading all of it. The update locks in the order of the invoice ids, and asks again
 * of a row that somebody else held whether it still waits with that document.
 */
export const ISSUE_REPORTED = `/* issue-reported */
WITH called_issued AS MATERIALIZED (
  SELECT i.invoice_id, i.service_id, i.state, event.issued_at
  FROM (SELECT DISTINCT unnest($1::text[]) AS service_id) named
  CROSS JOIN LATERAL (SELECT * FROM invoice own WHERE own.service_id = named.service_id OFFSET 0) i
  CROSS JOIN LATERAL (
    SELECT CASE WHEN bool_and(d.verdict = 'issued') THEN min(d.received_at) END AS issued_at
    FROM delivery d WHERE d.service_id = i.service_id AND d.verdict IS NOT NULL AND ${isOfApplication('i.application')}
  ) event
  WHERE (i.state IN ${WAITING} OR i.state = 'issued') AND event.issued_at IS NOT NULL
), reported AS MATERIALIZED (
  SELECT array_agg(one.invoice_id) AS ids, array_agg(one.service_id) AS service_ids, array_agg(one.issued_at) AS times
  FROM (SELECT * FROM called_issued WHERE state IN ${WAITING} ORDER BY invoice_id) one
), moved AS (
  UPDATE invoice i SET state = 'issued', settled_at = ${ofReported('times')}, changed_at = ${ofReported('times')},
    reason_code = NULL, reason_message = NULL, flags = ${FLAGS_WITHOUT_OLDER_LEDGER}
  WHERE i.invoice_id = ANY(${IDS}::bigint[]) AND i.service_id = ${ofReported('service_ids')} AND i.state IN ${WAITING}
  RETURNING i.invoice_id, i.service_id
), issued AS (
  SELECT invoice_id, service_id FROM moved
  UNION ALL
  SELECT invoice_id, service_id FROM called_issued WHERE state = 'issued'
)
SELECT m.invoice_id, m.service_id, l.batch_id, l.workflow_id, l.page, l.ordinal, 'issued' AS state
FROM issued m
LEFT JOIN LATERAL (
  SELECT b.batch_id, b.workflow_id, ${PAGE_OF} AS page, bi.ordinal
  FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id AND b.page_size > 0
  WHERE bi.invoice_id = m.invoice_id AND bi.outcome IS NULL
  OFFSET 0
) l ON true
ORDER BY l.batch_id, l.ordinal`;

function ofReported(column: 'times' | 'service_ids'): string {
  return ofItem(`(SELECT r.${column} FROM reported r)`, 'i.invoice_id', IDS);
}
