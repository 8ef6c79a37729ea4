import { TRANSITIONS } from '../../domain/invoice-state.ts';
import { fromStates, stateList } from '../database/states.ts';

/** One invoice that `RECORD_SENDS` has written, with its state after that. */
export interface RecordedSend {
  readonly invoice_id: number;
  readonly state: string;
  /** The service has issued an earlier document of it. */
  readonly issued_earlier: boolean;
}

/** An answer may still come for these; everything later has had its answer. */
const ANSWERABLE = stateList(TRANSITIONS.accept.from);

/**
 * Arrays: invoiceId, generation, kind, serviceId, reasonCode, reasonMessage, attempts, sentAt, mayExist, answeredAt,
 * proven, takenAt. A proof counts only while nobody has taken the invoice, or handed it out, since `takenAt`. `taken`: another invoice, an earlier generation, or another item of this set has that service id. It is found
 * by a join, so that one bad answer does not undo the others; a writer that is faster still hits the unique index, and
 * the statement is run again. `= ANY` beside the first join keeps the planner on the index: tables that grow within
 * minutes have no statistics yet. The second WHERE branch only flags: two ids for one key. The other document is kept
 * beside the generations, numbered below zero, so that its events are applied and it is polled; a writer of another one that was faster has its number, and the
 * statement is run again. A refusal that is decided
 * after its answer was recorded (attempts 0) passes over what has been handed out since: a POST may be on the wire.
 */
export const RECORD_SENDS = `/* record-sends */
WITH known AS (
  SELECT service_id, invoice_id FROM invoice WHERE service_id = ANY($4::text[])
), past AS (
  SELECT service_id FROM invoice_generation WHERE service_id = ANY($4::text[])
), item AS (
  SELECT u.*, u.service_id IS NOT NULL AND (
      row_number() OVER (PARTITION BY u.service_id ORDER BY u.invoice_id) > 1
      OR EXISTS (SELECT 1 FROM known k WHERE k.service_id = u.service_id AND k.invoice_id <> u.invoice_id)
      OR EXISTS (SELECT 1 FROM past p WHERE p.service_id = u.service_id)
    ) AS taken
  FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::bigint[], $9::boolean[], $10::bigint[],
    $11::boolean[], $12::bigint[])
    AS u(invoice_id, generation, kind, service_id, reason_code, reason_message, attempts, sent_at, may_exist, answered_at, proven, taken_at)
), target AS (
  SELECT i.invoice_id
  FROM invoice i JOIN item u ON u.invoice_id = i.invoice_id AND u.generation = i.generation
  WHERE i.invoice_id = ANY($1::bigint[])
  ORDER BY i.invoice_id
  FOR UPDATE OF i
), verdict AS (
  SELECT u.*,
    CASE
      WHEN u.kind = 'accepted' AND u.taken THEN 'unknown'
      WHEN u.kind = 'accepted' THEN 'accepted'
      WHEN u.kind IN ('unknown', 'rejected', 'held') THEN u.kind
    END AS wanted,
    CASE WHEN u.taken THEN 'service-id-taken' ELSE u.reason_code END AS why,
    CASE WHEN u.taken THEN 'The service answered with an id that another invoice has already; ask the service''s support what it stands for'
      ELSE u.reason_message END AS why_text
  FROM item u JOIN target t ON t.invoice_id = u.invoice_id
), moved AS (
UPDATE invoice i SET
  state = CASE
    WHEN v.wanted = 'accepted' AND i.state IN ${fromStates('accept')} THEN 'accepted'
    WHEN v.wanted IN ('rejected', 'held') AND i.state IN ${fromStates('refuse')} AND i.exposure = 'lost'
      AND NOT (v.proven AND coalesce(i.changed_at = v.taken_at, true)) THEN 'unknown'
    WHEN v.wanted IN ('unknown', 'rejected', 'held') AND i.state IN ${fromStates('lose')} THEN v.wanted
    ELSE i.state END,
  exposure = CASE
    WHEN i.state <> 'sending' THEN i.exposure
    WHEN v.may_exist THEN 'lost'
    WHEN v.kind IN ('pending', 'held') AND i.exposure = 'open' THEN 'none'
    ELSE i.exposure END,
  service_id = CASE WHEN v.wanted = 'accepted' AND i.state IN ${fromStates('accept')} THEN v.service_id ELSE i.service_id END,
  accepted_at = CASE WHEN v.wanted = 'accepted' AND i.state IN ${fromStates('accept')} THEN v.answered_at ELSE i.accepted_at END,
  asks = CASE WHEN v.wanted = 'accepted' AND i.state IN ${fromStates('accept')} THEN 0 ELSE i.asks END,
  attempts = CASE WHEN i.state IN ${ANSWERABLE} THEN i.attempts + v.attempts ELSE i.attempts END,
  first_sent_at = CASE WHEN i.state IN ${ANSWERABLE} AND v.attempts > 0 THEN coalesce(i.first_sent_at, v.sent_at) ELSE i.first_sent_at END,
  reason_code = CASE
    WHEN i.state NOT IN ${ANSWERABLE} OR (i.state = 'unknown' AND v.wanted IS DISTINCT FROM 'accepted' AND NOT v.taken) THEN i.reason_code
    ELSE v.why END,
  reason_message = CASE
    WHEN i.state NOT IN ${ANSWERABLE} OR (i.state = 'unknown' AND v.wanted IS DISTINCT FROM 'accepted' AND NOT v.taken) THEN i.reason_message
    ELSE v.why_text END,
  flags = CASE
    WHEN i.service_id <> v.service_id AND NOT i.flags @> '{second-service-id}' THEN i.flags || '{second-service-id}'::text[]
    ELSE i.flags END,
  changed_at = v.answered_at
FROM verdict v
WHERE i.invoice_id = v.invoice_id AND i.generation = v.generation
  AND (i.state IN ${ANSWERABLE} OR (v.kind = 'accepted' AND i.service_id <> v.service_id))
  AND NOT (v.kind = 'rejected' AND v.attempts = 0 AND i.state = 'sending' AND i.exposure = 'open')
RETURNING i.invoice_id, i.state, i.generation, i.fingerprint, i.idempotency_key, i.service_id,
  i.flags @> '{issued-in-earlier-generation}' AS issued_earlier,
  CASE WHEN v.kind = 'accepted' AND NOT v.taken AND i.service_id <> v.service_id THEN v.service_id END AS other_id, v.sent_at
), other AS (
  INSERT INTO invoice_generation (invoice_id, generation, fingerprint, idempotency_key, state, service_id, attempts, first_sent_at, flags)
  SELECT m.invoice_id, -1 - (SELECT count(*) FROM invoice_generation g WHERE g.invoice_id = m.invoice_id AND g.generation < 0),
    m.fingerprint, m.idempotency_key, 'accepted', m.other_id, 0, m.sent_at, '{second-service-id}'
  FROM moved m WHERE m.other_id IS NOT NULL
  ON CONFLICT (service_id) DO NOTHING
)
SELECT invoice_id, state, issued_earlier FROM moved`;
