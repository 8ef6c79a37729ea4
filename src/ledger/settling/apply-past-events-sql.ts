import { TRANSITIONS } from '../../domain/invoice-state.ts';
import { KEEP_GENERATION_OF_TARGET } from './keep-generation-sql.ts';
import { FLAGS_WITHOUT_OLDER_LEDGER } from './other-document-sql.ts';
import { applicationOfPastDocument, isOfApplication } from './same-application-sql.ts';
import { fromStates, stateList } from '../database/states.ts';

/** Every try of this generation is proved not to have reached the service. */
const UNSENT = `(i.state IN ('staged', 'held') OR (i.state = 'sending' AND i.exposure = 'none'))`;

/** By an earlier document, or by the other one of a key that brought two. */
const REVIVED = stateList([...TRANSITIONS.revive.from, ...TRANSITIONS.issue.from]);

/** Says of both contents that somebody must look. */
const WARNING = `'The service issued an earlier document of this invoice after it had called it failed; decide whether this one must go too'`;

/**
 * serviceIds of stored events; then arrays of what a GET said was issued: serviceId, when. `issued` for the document of
 * an earlier generation.
 *
 *   same content, this generation never left, or failed, or was refused  -> issued, by the earlier document (revive)
 *   the other document of the same key, and no final word yet             -> issued, by that document (issue)
 *   other content, never left                                            -> held until an operator has decided
 *   sending, and a POST may have arrived  -> unknown: one more try could be the one that makes a second document
 *   anything else                         -> flagged
 *
 * The earlier generation is issued after all, and every line that held its content says so.
 */
export const APPLY_PAST_EVENTS = `/* apply-past-events */
WITH reported AS (
  SELECT service_id, min(issued_at) AS issued_at FROM (
    SELECT u.service_id, d.received_at AS issued_at
    FROM unnest($1::text[]) AS u(service_id)
    CROSS JOIN LATERAL (
      SELECT d.received_at FROM delivery d
      WHERE d.service_id = u.service_id AND d.verdict = 'issued' AND ${isOfApplication(applicationOfPastDocument('u.service_id'))}
      ORDER BY d.received_at LIMIT 1) d
    UNION ALL
    SELECT * FROM unnest($2::text[], $3::bigint[]) AS answered(service_id, issued_at)
  ) said
  GROUP BY service_id
), target AS (
  SELECT i.*, ${UNSENT} AS unsent
  FROM invoice i
  WHERE i.invoice_id IN (SELECT g.invoice_id FROM invoice_generation g JOIN reported r ON r.service_id = g.service_id WHERE g.state <> 'issued')
  ORDER BY i.invoice_id
  FOR UPDATE OF i
), past AS (
  UPDATE invoice_generation g SET state = 'issued', settled_at = r.issued_at, reason_code = NULL, reason_message = NULL,
    flags = g.flags || CASE WHEN g.state = 'accepted' THEN '{}'::text[] ELSE '{issued-after-failed}' END
  FROM reported r
  WHERE g.service_id = r.service_id AND g.state <> 'issued' AND g.invoice_id IN (SELECT invoice_id FROM target)
  RETURNING g.invoice_id, g.generation, g.fingerprint, g.service_id, g.idempotency_key, g.first_sent_at, g.settled_at
), decided AS (
  SELECT DISTINCT ON (p.invoice_id) p.*, t.unsent,
    p.fingerprint = t.fingerprint AND (t.unsent OR t.state IN ${fromStates('regenerate')} OR (p.idempotency_key = t.idempotency_key AND t.state IN ${fromStates('issue')})) AS revives,
    count(*) OVER (PARTITION BY p.invoice_id) > 1 AS several
  FROM past p JOIN target t ON t.invoice_id = p.invoice_id
  ORDER BY p.invoice_id, p.fingerprint = t.fingerprint DESC, p.generation
), kept AS (
  ${KEEP_GENERATION_OF_TARGET} JOIN decided d ON d.invoice_id = t.invoice_id
  WHERE d.revives AND NOT t.unsent
), moved AS (
  UPDATE invoice i SET
    state = CASE
      WHEN d.revives AND i.state IN ${REVIVED} THEN 'issued'
      WHEN d.unsent THEN 'held'
      WHEN i.state IN ${fromStates('lose')} THEN 'unknown'
      ELSE i.state END,
    service_id = CASE WHEN d.revives THEN d.service_id ELSE i.service_id END,
    idempotency_key = CASE WHEN d.revives THEN d.idempotency_key ELSE i.idempotency_key END,
    first_sent_at = CASE WHEN d.revives THEN d.first_sent_at ELSE i.first_sent_at END,
    settled_at = CASE WHEN d.revives THEN d.settled_at ELSE i.settled_at END,
    changed_at = CASE WHEN d.revives THEN d.settled_at ELSE i.changed_at END,
    exposure = CASE WHEN d.unsent THEN 'none' WHEN i.state = 'sending' THEN 'lost' ELSE i.exposure END,
    reason_code = CASE
      WHEN d.revives THEN NULL
      WHEN d.unsent OR i.state IN ('sending', 'unknown') THEN 'issued-in-earlier-generation'
      ELSE i.reason_code END,
    reason_message = CASE
      WHEN d.revives THEN NULL
      WHEN d.unsent OR i.state IN ('sending', 'unknown') THEN ${WARNING}
      ELSE i.reason_message END,
    flags = CASE WHEN d.revives THEN ${FLAGS_WITHOUT_OLDER_LEDGER} ELSE i.flags END
      || CASE WHEN d.revives AND i.state NOT IN ('accepted', 'unsettled') THEN '{issued-after-failed}'::text[] ELSE '{}' END
      || CASE WHEN (d.several OR NOT d.revives) AND NOT i.flags @> '{issued-in-earlier-generation}'
           THEN '{issued-in-earlier-generation}'::text[] ELSE '{}' END
  FROM decided d
  WHERE i.invoice_id = d.invoice_id
), updated AS (
  UPDATE batch_invoice bi SET outcome = 'issued', generation = p.generation
  FROM past p JOIN invoice_generation held ON held.invoice_id = p.invoice_id AND held.fingerprint = p.fingerprint
  WHERE bi.invoice_id = p.invoice_id AND bi.generation = held.generation
  RETURNING bi.batch_id, bi.ordinal, p.invoice_id, p.service_id
), concerned AS (
  SELECT batch_id, ordinal, invoice_id, service_id FROM updated
  UNION ALL
  SELECT bi.batch_id, bi.ordinal, d.invoice_id, d.service_id
  FROM decided d JOIN batch_invoice bi ON bi.invoice_id = d.invoice_id AND bi.outcome IS NULL
  WHERE d.revives
)
SELECT c.service_id, c.invoice_id, b.batch_id, b.workflow_id, (c.ordinal - 1) / b.page_size + 1 AS page, c.ordinal, 'issued' AS state
FROM concerned c JOIN batch b ON b.batch_id = c.batch_id
ORDER BY b.batch_id, c.ordinal`;
