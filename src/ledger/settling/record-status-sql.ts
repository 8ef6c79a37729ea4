import { failedEventOf } from './failed-event-sql.ts';
import { fromStates } from '../database/states.ts';
import { FLAGS_WITHOUT_OLDER_LEDGER, isOtherAlive } from './other-document-sql.ts';

/** One invoice whose status `RECORD_STATUS` has written, with its state after that. */
export interface RecordedStatus {
  readonly invoice_id: number;
  readonly service_id: string | null;
  readonly state: string;
  /** The service has issued an earlier document of it. */
  readonly issued_earlier: boolean;
}

/**
 * Arrays: invoiceId, status, reason code, reason message, now, serviceId, asks, unconfirmed. An answer about a document
 * that is not the invoice's any more (it was on its way while a correction took over) moves nothing here. An unreadable
 * status confirms a `failed` event that is stored; without such an event it moves nothing. A failure that no GET has
 * confirmed is flagged and never sent again without an operator. Contradictions with earlier answers are flagged, never
 * taken back.
 */
export const RECORD_STATUS = `/* record-status */
WITH item AS (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::integer[], $8::boolean[])
    AS u(invoice_id, status, reason_code, reason_message, answered_at, service_id, asks, unconfirmed)
), target AS (
  SELECT i.invoice_id, i.service_id, i.application, i.flags
  FROM invoice i JOIN item u ON u.invoice_id = i.invoice_id
  WHERE i.invoice_id = ANY($1::bigint[]) AND i.service_id = u.service_id
  ORDER BY i.invoice_id
  FOR UPDATE OF i
), answer AS (
  SELECT u.invoice_id, u.answered_at, u.asks, event.seq IS NOT NULL AS failed_before,
    u.unconfirmed OR u.status = 'unreadable' AS unconfirmed,
    CASE
      WHEN u.status <> 'failed' AND (u.status <> 'unreadable' OR event.seq IS NULL) THEN u.status
      -- Its key brought two documents: it has failed when both have.
      WHEN ${isOtherAlive('t')} THEN 'processing'
      ELSE 'failed' END AS status,
    coalesce(u.reason_code, event.reason_code, 'failed') AS reason_code,
    CASE WHEN u.reason_code IS NOT NULL THEN coalesce(u.reason_message, '')
      ELSE coalesce(event.reason_message, 'The service gave no reason') END AS reason_message
  FROM item u
  JOIN target t ON t.invoice_id = u.invoice_id AND t.service_id = u.service_id
  LEFT JOIN LATERAL (${failedEventOf('t')}) event ON true
)
UPDATE invoice i SET
  state = CASE
    WHEN a.status = 'issued' AND i.state IN ${fromStates('issue')} THEN 'issued'
    WHEN a.status = 'failed' AND i.state IN ${fromStates('fail')} THEN 'failed'
    ELSE i.state END,
  settled_at = CASE
    WHEN a.status = 'issued' AND i.state IN ${fromStates('issue')} THEN a.answered_at
    WHEN a.status = 'failed' AND i.state IN ${fromStates('fail')} THEN a.answered_at
    ELSE i.settled_at END,
  reason_code = CASE
    WHEN a.status = 'issued' AND i.state IN ${fromStates('issue')} THEN NULL
    WHEN a.status = 'failed' AND i.state IN ${fromStates('fail')} THEN a.reason_code
    ELSE i.reason_code END,
  reason_message = CASE
    WHEN a.status = 'issued' AND i.state IN ${fromStates('issue')} THEN NULL
    WHEN a.status = 'failed' AND i.state IN ${fromStates('fail')} THEN a.reason_message
    ELSE i.reason_message END,
  flags = CASE WHEN a.status = 'issued' AND i.state IN ${fromStates('issue')} THEN ${FLAGS_WITHOUT_OLDER_LEDGER} ELSE i.flags END
    || CASE WHEN a.status = 'issued' AND (i.state = 'failed' OR (a.failed_before AND i.state IN ${fromStates('issue')}))
        AND NOT i.flags @> '{issued-after-failed}' THEN '{issued-after-failed}'::text[] ELSE '{}' END
    || CASE WHEN a.status = 'failed' AND i.state = 'issued'
        AND NOT i.flags @> '{failed-after-issued}' THEN '{failed-after-issued}'::text[] ELSE '{}' END
    || CASE WHEN a.status = 'failed' AND a.unconfirmed AND i.state IN ${fromStates('fail')}
        THEN '{failure-unconfirmed}'::text[] ELSE '{}' END,
  asks = greatest(i.asks, coalesce(a.asks, i.asks + 1)),
  changed_at = a.answered_at
FROM answer a
WHERE i.invoice_id = a.invoice_id
RETURNING i.invoice_id, i.service_id, i.state, i.flags @> '{issued-in-earlier-generation}' AS issued_earlier`;

/** Arrays: serviceId, now: what a GET called failed and is the other document of a key that brought two. */
export const FAIL_OTHER_DOCUMENTS = `/* fail-other-documents */
UPDATE invoice_generation g SET state = 'failed', settled_at = u.answered_at
FROM unnest($1::text[], $2::bigint[]) AS u(service_id, answered_at)
WHERE g.service_id = u.service_id AND g.generation < 0 AND g.state = 'accepted'`;
