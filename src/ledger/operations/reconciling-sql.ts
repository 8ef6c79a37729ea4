import {
  CANCELLED_UNANSWERED,
  NEVER_REPEATED_REASONS,
  SPENT_KEY_REASONS,
  STOPPED_MAYBE_SENT,
} from '../../domain/retry-decision.ts';
import { applicationOfPastDocument, isOfApplication } from '../settling/same-application-sql.ts';
import { HAS_EARLIER_DOCUMENT, IS_DOUBTFUL } from '../settling/other-document-sql.ts';
import { failedEventOf } from '../settling/failed-event-sql.ts';
import { INVOICE_OF_LINE, invoicesOfBatch } from '../batches/page-of-sql.ts';
import { isAheadSql } from '../database/ahead-sql.ts';
import { CLOSED_BATCH_STATES, fromStates } from '../database/states.ts';

/**
 * Invoices that the last report of some batch left open: a small table instead of an index on the state of all
 * invoices.
 */
export const LEFT_OPEN = `
  SELECT DISTINCT bi.invoice_id
  FROM report_outcome r
  JOIN batch_invoice bi ON bi.batch_id = r.batch_id AND bi.ordinal = r.ordinal
  WHERE bi.outcome IS NULL AND bi.invoice_id IS NOT NULL`;

const SPENT = reasonList(SPENT_KEY_REASONS);

function reasonList(codes: readonly string[]): string {
  return `(${codes.map((code) => `'${code}'`).join(', ')})`;
}

/** now ($1), stale before ($2). */
const IS_STALE = `(i.changed_at < $2 OR ${isAheadSql('i.changed_at', '$1')})`;

/** An `unknown` one, or a repeat that a crash ended. $2: changed before this, a repeat counts as ended. */
const REPEATABLE = `(i.state IN ${fromStates('repeat')} OR (i.state = 'sending' AND ${IS_STALE}))`;

/**
 * No operator has to confirm a repeat: inside the retention window it cannot make a second document, unless the key was never used, because the ledger was
 * restored and other content was sent meanwhile.
 */
const REPEATED_BY_ITSELF = `(coalesce(i.reason_code, '') NOT IN ${reasonList(NEVER_REPEATED_REASONS)}
    AND NOT ${HAS_EARLIER_DOCUMENT} AND NOT ${IS_DOUBTFUL})`;

/**
 * Its repeat may be its first POST, and the operator who stopped its batch wanted none. The reason decides, and not the state of the batch: a batch that is
 * opened again for something else ends as `finished`.
 */
const LEFT_TO_OPERATOR = `(i.state = 'unknown' AND coalesce(i.reason_code, '') = '${CANCELLED_UNANSWERED}')`;

/** Whoever orders a repeat wants the POST: from now on the invoice is like any other whose answer is not known. */
export const WITHOUT_CANCELLATION = `reason_code = CASE WHEN i.reason_code = '${CANCELLED_UNANSWERED}' THEN NULL ELSE i.reason_code END,
  reason_message = CASE WHEN i.reason_code = '${CANCELLED_UNANSWERED}' THEN NULL ELSE i.reason_message END`;

/**
 * batchId, frozen after: unknown invoices of a batch that runs go to its pages, same key and bytes.
 */
export const REPEAT_UNKNOWN = `/* repeat-unknown */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  JOIN batch owner ON owner.batch_id = i.owner_batch
  JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
  WHERE i.invoice_id = ANY(${invoicesOfBatch(`i.state IN ${fromStates('repeat')}`)})
    AND i.state IN ${fromStates('repeat')} AND body.frozen_at > $2
    AND (i.owner_batch = $1 OR owner.state IN ${CLOSED_BATCH_STATES})
    AND ${REPEATED_BY_ITSELF}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'sending', owner_batch = $1, exposure = 'lost', ${WITHOUT_CANCELLATION}
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ${fromStates('repeat')}
RETURNING i.invoice_id`;

/** batchId, invoiceId after which to go on, limit. */
export const UNSETTLED_DOCUMENTS = `/* unsettled-documents */
SELECT i.invoice_id, i.service_id, event.seq IS NOT NULL AS has_failed_event, event.reason_code, event.reason_message
FROM batch_invoice bi
JOIN ${INVOICE_OF_LINE}
LEFT JOIN LATERAL (${failedEventOf('i')}) event ON true
WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.state = 'unsettled' AND i.service_id IS NOT NULL AND i.invoice_id > $2
ORDER BY i.invoice_id
LIMIT $3`;

/** One invoice that `TAKE_UNKNOWN` has moved to `sending`, for one repeat. */
export interface TakenRow {
  readonly invoice_id: number;
  readonly generation: number;
  readonly idempotency_key: string;
  readonly body: string;
  readonly frozen_at: number;
  readonly tried_at: number;
  readonly reason_code: string | null;
  readonly reason_message: string | null;
}

/** application. */
export const BATCHES_LEFT_UNKNOWN = `/* batches-left-unknown */
WITH left_open AS (${LEFT_OPEN}
)
SELECT DISTINCT i.owner_batch AS batch_id
FROM left_open o
JOIN invoice i ON i.invoice_id = o.invoice_id
JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}
WHERE i.state IN ${fromStates('repeat')} AND i.application = $1 AND ${REPEATED_BY_ITSELF}
ORDER BY i.owner_batch`;

/**
 * now, stale before, frozen after, all, limit, invoiceId after which to go on, application, refusal is proof, batches that are left alone. The compare-and-set is in
 * the row: after the winner's `changed_at` no other call takes it. Without `all`, each invoice waits half of the age it
 * had at its last try, so that it is repeated a dozen times in a day and not a hundred; one with a spent key waits for
 * all of that age, unless a refusal is a proof, and one of a cancelled batch that may never have left is not taken. An operator decides about an invoice of which an earlier generation
 * turned out to be issued.
 */
export const TAKE_UNKNOWN = `/* take-unknown */
WITH left_open AS (${LEFT_OPEN}
), target AS (
  SELECT i.invoice_id, i.changed_at AS tried_at
  FROM left_open o
  JOIN invoice i ON i.invoice_id = o.invoice_id
  JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}
  JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
  WHERE ${REPEATABLE} AND body.frozen_at > $3 AND NOT ${isAheadSql('body.frozen_at', '$1')}
    AND ${REPEATED_BY_ITSELF} AND ($4::text::boolean OR NOT ${LEFT_TO_OPERATOR})
    AND ($4::text::boolean
      OR ($8::text::boolean AND i.reason_code = 'refused-after-lost-answer')
      OR ${isAheadSql('i.changed_at', '$1')}
      OR CASE WHEN i.reason_code IN ${SPENT} THEN 1 ELSE 2 END * ($1 - i.changed_at) >= i.changed_at - body.frozen_at)
    AND i.invoice_id > $6 AND i.application = $7 AND NOT i.owner_batch = ANY($9::text[])
  ORDER BY i.invoice_id
  LIMIT $5
  FOR UPDATE OF i SKIP LOCKED
)
UPDATE invoice i SET state = 'sending', exposure = 'lost', changed_at = $1
FROM target t, invoice_body body
WHERE i.invoice_id = t.invoice_id AND body.invoice_id = i.invoice_id AND body.generation = i.generation AND ${REPEATABLE}
RETURNING i.invoice_id, i.generation, i.idempotency_key, body.body, body.frozen_at, t.tried_at, i.reason_code, i.reason_message`;

/** now, stale before, frozen after, application: a repeat that a crash ended, and that no process may take up again. */
export const GIVE_UP_REPEATS = `/* give-up-repeats */
WITH left_open AS (${LEFT_OPEN}
), target AS (
  SELECT i.invoice_id
  FROM left_open o
  JOIN invoice i ON i.invoice_id = o.invoice_id
  JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}
  JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
  WHERE i.state = 'sending' AND ${IS_STALE} AND (body.frozen_at <= $3 OR ${isAheadSql('body.frozen_at', '$1')}) AND i.application = $4
  ORDER BY i.invoice_id
  FOR UPDATE OF i SKIP LOCKED
)
UPDATE invoice i SET state = 'unknown', changed_at = $1,
  reason_code = coalesce(i.reason_code, 'answer-lost'),
  reason_message = coalesce(i.reason_message, 'Its last answer was lost, so its outcome is not known.')
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ${fromStates('lose')}`;

/**
 * Of what is left to an operator only the message may change: by its reason code no schedule POSTs it, also after the retention window was made longer.
 */
const END_MESSAGE = `CASE WHEN ${LEFT_TO_OPERATOR} THEN '${STOPPED_MAYBE_SENT}' ELSE '' END
  || CASE WHEN ${isAheadSql('body.frozen_at', '$1')} THEN $6::text ELSE $4::text END`;

/**
 * now, frozen until, reason code, reason message, application, message where a clock that ran ahead froze it.
 *
 * It ends what a repeat would have settled, and none may any more. A spent key keeps its reason, because by that reason a
 * retry after the window gives the invoice a new key. The time of the last change stays: the invoice has waited since then.
 */
export const END_REPEATS = `/* end-repeats */
WITH left_open AS (${LEFT_OPEN}
), target AS (
  SELECT i.invoice_id, ${LEFT_TO_OPERATOR} AS is_left, ${END_MESSAGE} AS message
  FROM left_open o
  JOIN invoice i ON i.invoice_id = o.invoice_id
  JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}
  JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
  WHERE i.state IN ${fromStates('repeat')} AND (body.frozen_at <= $2 OR ${isAheadSql('body.frozen_at', '$1')}) AND i.application = $5
    AND coalesce(i.reason_code, '') <> $3 AND coalesce(i.reason_code, '') NOT IN ${SPENT} AND ${REPEATED_BY_ITSELF}
    AND (NOT ${LEFT_TO_OPERATOR} OR coalesce(i.reason_message, '') <> (${END_MESSAGE}))
  ORDER BY i.invoice_id
  FOR UPDATE OF i SKIP LOCKED
)
UPDATE invoice i SET reason_code = CASE WHEN t.is_left THEN i.reason_code ELSE $3 END, reason_message = t.message
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ${fromStates('repeat')}
RETURNING i.invoice_id`;

/**
 * invoiceIds: their reports said another reason, and states alone do not show it. No batch has a number of flags below zero, so that its last report differs from
 * the ledger until it is written again. Each change has a number of its own: by it a report that was read before is known.
 */
export const MARK_REASONS_CHANGED = `/* mark-reasons-changed */
UPDATE report_mark m SET flags = least(m.flags, 0) - 1
WHERE m.batch_id IN (
  SELECT r.batch_id
  FROM batch_invoice bi
  JOIN report_outcome r ON r.batch_id = bi.batch_id AND r.ordinal = bi.ordinal
  WHERE bi.invoice_id = ANY($1::bigint[]) AND bi.outcome IS NULL)`;

/** One document without a final word, to be polled. */
export interface OpenDocumentRow {
  readonly invoice_id: number;
  readonly service_id: string;
  readonly has_failed_event: boolean;
  readonly reason_code: string | null;
  readonly reason_message: string | null;
}

/**
 * now, all, invoiceId after which to go on, limit, application. The other document of a key that brought two is asked
 * for each time. All documents of an invoice are in one portion, for the next one begins after it.
 */
export const OPEN_DOCUMENTS = `/* open-documents */
WITH left_open AS (${LEFT_OPEN}
)
SELECT i.invoice_id, i.service_id, event.seq IS NOT NULL AS has_failed_event, event.reason_code, event.reason_message
FROM left_open o
JOIN invoice i ON i.invoice_id = o.invoice_id
JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}
LEFT JOIN LATERAL (${failedEventOf('i')}) event ON true
WHERE i.state IN ${fromStates('fail')} AND i.service_id IS NOT NULL AND i.invoice_id > $3 AND i.application = $5
  AND ($2::text::boolean OR event.seq IS NOT NULL OR ${isAheadSql('i.changed_at', '$1')} OR 2 * ($1 - i.changed_at) >= i.changed_at - coalesce(i.accepted_at, i.changed_at))
UNION ALL
SELECT g.invoice_id, g.service_id, event.seq IS NOT NULL, event.reason_code, event.reason_message
FROM invoice_generation g
JOIN invoice i ON i.invoice_id = g.invoice_id AND i.application = $5
JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}
LEFT JOIN LATERAL (${failedEventOf('g', 'i')}) event ON true
WHERE g.generation < 0 AND g.state = 'accepted' AND g.invoice_id > $3
ORDER BY invoice_id
FETCH FIRST $4 ROWS WITH TIES`;

/**
 * Service ids with a stored `issued` event that no invoice shows: the process that stored it died before it applied it.
 */
export const MISSED_EVENTS = `/* missed-events */
SELECT i.service_id, false AS past
FROM (${LEFT_OPEN}) o
JOIN invoice i ON i.invoice_id = o.invoice_id
WHERE i.state IN ${fromStates('issue')}
  AND EXISTS (SELECT 1 FROM delivery d WHERE d.service_id = i.service_id AND d.verdict = 'issued' AND ${isOfApplication('i.application')})
UNION ALL
SELECT g.service_id, true AS past
FROM invoice_generation g
WHERE g.service_id IS NOT NULL AND g.state <> 'issued'
  AND EXISTS (SELECT 1 FROM delivery d WHERE d.service_id = g.service_id AND d.verdict = 'issued' AND ${isOfApplication(applicationOfPastDocument('g.service_id'))})`;

/** A process that died between storing an event and applying it is found by the next reconciliations, long before that. */
const LOOKED_BACK_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Service ids of issued invoices with a stored `failed` event that nobody has flagged. Looks at the last week of such events, through their own index, so
 * that it costs the same however many there were before.
 */
export const MISSED_CONTRADICTIONS = `/* missed-contradictions */
SELECT DISTINCT i.service_id
FROM delivery d
JOIN invoice i ON i.service_id = d.service_id AND i.state = 'issued' AND ${isOfApplication('i.application')}
WHERE d.verdict = 'failed' AND d.received_at >= (SELECT max(received_at) FROM delivery WHERE verdict = 'failed') - ${LOOKED_BACK_MS}
  AND NOT i.flags && '{failed-after-issued,issued-after-failed}'`;

/** acceptedBefore, reason code, reason message, now, application. */
export const EXPIRE_PENDING = `/* expire-pending */
WITH left_open AS (${LEFT_OPEN}
), target AS (
  SELECT i.invoice_id
  FROM left_open o
  JOIN invoice i ON i.invoice_id = o.invoice_id
  JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}
  WHERE i.state IN ${fromStates('expire')} AND (i.accepted_at < $1 OR ${isAheadSql('i.accepted_at', '$4')}) AND i.application = $5
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'unsettled', reason_code = $2, reason_message = $3, changed_at = $4
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ${fromStates('expire')}
RETURNING i.invoice_id`;
