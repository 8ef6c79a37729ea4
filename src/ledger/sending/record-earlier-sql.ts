import { fromStates } from '../database/states.ts';
import { ACCEPTED_EARLIER } from '../settling/other-document-sql.ts';

const NOTHING_LEFT = `(i.state IN ('staged', 'held') OR (i.state = 'sending' AND i.exposure = 'none'))`;

/** Says why the generation that was to replace it goes no further. */
const WARNING = `'The service accepted an earlier document of this invoice after its key had been given up; decide whether this one must go too'`;

/**
 * Arrays: invoiceId, generation, serviceId, attempts, sentAt, answeredAt: answers that accept what the ledger has given up, a generation that another one
 * has replaced, or one that is rejected or held. The document is kept beside the generations, as the second one of a key is: its events
 * count, it is polled, and the invoice is failed only if it is. What may still be kept from making another document is kept from it, until an operator
 * accepts the risk. Runs after `RECORD_SENDS`, in a new snapshot: that one has waited for whoever raised the generation. An id that is known changes nothing.
 */
export const RECORD_EARLIER = `/* record-earlier */
WITH item AS (
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[])
    AS u(invoice_id, generation, service_id, attempts, sent_at, answered_at)
), target AS (
  SELECT i.invoice_id, i.fingerprint, i.idempotency_key
  FROM invoice i JOIN item u ON u.invoice_id = i.invoice_id
    AND (u.generation < i.generation OR (u.generation = i.generation AND i.service_id IS NULL AND i.state IN ('held', 'rejected')))
  WHERE i.invoice_id = ANY($1::bigint[])
  ORDER BY i.invoice_id
  FOR UPDATE OF i
), kept AS (
  INSERT INTO invoice_generation (invoice_id, generation, fingerprint, idempotency_key, state, service_id, attempts, first_sent_at, flags)
  SELECT t.invoice_id, -1 - (SELECT count(*) FROM invoice_generation g WHERE g.invoice_id = t.invoice_id AND g.generation < 0),
    coalesce(own.fingerprint, t.fingerprint), coalesce(own.idempotency_key, t.idempotency_key), 'accepted', u.service_id, u.attempts, u.sent_at,
    '{second-service-id}'
  FROM target t
  JOIN item u ON u.invoice_id = t.invoice_id
  LEFT JOIN invoice_generation own ON own.invoice_id = u.invoice_id AND own.generation = u.generation
  WHERE NOT EXISTS (SELECT FROM invoice other WHERE other.service_id = u.service_id OFFSET 0)
    AND NOT EXISTS (SELECT FROM invoice_generation other WHERE other.service_id = u.service_id OFFSET 0)
  ON CONFLICT (service_id) DO NOTHING
  RETURNING invoice_id
)
UPDATE invoice i SET
  state = CASE WHEN ${NOTHING_LEFT} THEN 'held' WHEN i.state IN ${fromStates('lose')} THEN 'unknown' ELSE i.state END,
  reason_code = CASE WHEN ${NOTHING_LEFT} OR i.state IN ('sending', 'unknown') THEN '${ACCEPTED_EARLIER}' ELSE i.reason_code END,
  reason_message = CASE WHEN ${NOTHING_LEFT} OR i.state IN ('sending', 'unknown') THEN ${WARNING} ELSE i.reason_message END,
  flags = CASE WHEN i.flags @> '{second-service-id}' THEN i.flags ELSE i.flags || '{second-service-id}'::text[] END,
  changed_at = u.answered_at
FROM kept k JOIN item u ON u.invoice_id = k.invoice_id
WHERE i.invoice_id = k.invoice_id
RETURNING i.invoice_id`;
