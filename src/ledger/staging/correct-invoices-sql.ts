import { TRANSITIONS } from '../../domain/invoice-state.ts';
import { CLOSED_BATCH_STATES, stateList } from '../database/states.ts';

const CORRECTABLE = stateList([...TRANSITIONS.regenerate.from, ...TRANSITIONS.replace.from]);

/** One that was never sent, and now never will be with this content, is at rest: `held`, and says why. */
const RESTS_AS = `CASE WHEN i.state = 'staged' THEN 'held' ELSE i.state END`;
const CODE = `CASE WHEN i.state = 'staged' THEN 'corrected-before-sending' ELSE i.reason_code END`;
const MESSAGE = `CASE WHEN i.state = 'staged' THEN 'Not sent: a later file brought other content for this invoice' ELSE i.reason_message END`;

/** invoiceIds: how the generation that a correction replaces ended. */
export const KEEP_GENERATION = `/* keep-generation */
INSERT INTO invoice_generation (invoice_id, generation, fingerprint, idempotency_key, state, service_id, attempts,
  first_sent_at, settled_at, reason_code, reason_message, flags)
SELECT i.invoice_id, i.generation, i.fingerprint, i.idempotency_key, ${RESTS_AS}, i.service_id, i.attempts,
  i.first_sent_at, i.settled_at, ${CODE}, ${MESSAGE}, i.flags
FROM invoice i WHERE i.invoice_id = ANY($1::bigint[])`;

/** invoiceIds: earlier batches keep the outcome of the content that they held; the new content is not theirs. */
export const KEEP_OUTCOMES = `/* keep-outcomes */
UPDATE batch_invoice bi SET outcome = ${RESTS_AS}, generation = i.generation
FROM invoice i
WHERE i.invoice_id = ANY($1::bigint[]) AND bi.invoice_id = i.invoice_id AND bi.outcome IS NULL`;

/** batchId, now, then arrays: invoiceId, fingerprint, key of the next generation. */
export const CORRECT_INVOICES = `/* correct-invoices */
UPDATE invoice i SET
  fingerprint = u.fingerprint, idempotency_key = u.idempotency_key, generation = i.generation + 1, owner_batch = $1, state = 'staged',
  exposure = 'none', service_id = NULL, asks = 0, first_sent_at = NULL, accepted_at = NULL, settled_at = NULL,
  reason_code = NULL, reason_message = NULL, flags = '{}', changed_at = $2
FROM unnest($3::bigint[], $4::text[], $5::text[]) AS u(invoice_id, fingerprint, idempotency_key)
WHERE i.invoice_id = u.invoice_id AND i.state IN ${CORRECTABLE}`;

/** Not sent, and on no line: the correction's staging is forgotten. `held`: the service issued what it replaces meanwhile. */
const WITHDRAWN = `(i.state = 'staged' OR (i.state = 'held' AND i.flags @> '{issued-in-earlier-generation}'))`;

/**
 * Undoes `keep-generation`, `keep-outcomes` and `correct-invoices` for the invoices `i` for which `condition` on batchId ($1) holds: the newest generation that
 * lines of other batches hold is the invoice again, and those lines show it live. One of these batches owns it, a closed one before an open one: it is at
 * rest, and nobody sends it by itself. What the service said of an earlier document meanwhile stays said.
 */
export function restoreGenerations(condition: string): string {
  const isLine = `line.invoice_id = i.invoice_id AND line.generation = kept.generation AND line.batch_id <> $1`;
  return `/* restore-generations */
WITH target AS (
  SELECT i.invoice_id, kept.*, (
      SELECT line.batch_id FROM batch_invoice line JOIN batch b ON b.batch_id = line.batch_id
      WHERE ${isLine}
      ORDER BY b.state NOT IN ${CLOSED_BATCH_STATES}, b.seq LIMIT 1
    ) AS owner_batch
  FROM invoice i
  JOIN LATERAL (
    SELECT kept.generation, kept.fingerprint, kept.idempotency_key, kept.state, kept.service_id, kept.first_sent_at, kept.settled_at,
      kept.reason_code, kept.reason_message, kept.flags
    FROM invoice_generation kept
    WHERE kept.invoice_id = i.invoice_id AND kept.generation BETWEEN 1 AND i.generation - 1
      AND EXISTS (SELECT 1 FROM batch_invoice line WHERE ${isLine})
    ORDER BY kept.generation DESC LIMIT 1
  ) kept ON true
  WHERE ${condition} AND i.generation > 1 AND ${WITHDRAWN}
    AND NOT EXISTS (
      SELECT 1 FROM invoice_generation sent
      WHERE sent.invoice_id = i.invoice_id AND sent.generation > kept.generation AND sent.first_sent_at IS NOT NULL)
), shown AS (
  UPDATE batch_invoice line SET outcome = NULL, generation = NULL
  FROM target t WHERE line.invoice_id = t.invoice_id AND line.generation = t.generation
), generations AS (
  DELETE FROM invoice_generation g USING target t WHERE g.invoice_id = t.invoice_id AND g.generation >= t.generation
), contents AS (
  DELETE FROM invoice_content c USING target t WHERE c.invoice_id = t.invoice_id AND c.generation > t.generation
)
UPDATE invoice i SET
  generation = t.generation, fingerprint = t.fingerprint, idempotency_key = t.idempotency_key, owner_batch = t.owner_batch, state = t.state,
  service_id = t.service_id, first_sent_at = t.first_sent_at, settled_at = t.settled_at, reason_code = t.reason_code,
  reason_message = t.reason_message,
  flags = t.flags || CASE WHEN t.state <> 'issued' AND i.flags @> '{issued-in-earlier-generation}'
    AND NOT t.flags @> '{issued-in-earlier-generation}' THEN '{issued-in-earlier-generation}'::text[] ELSE '{}' END
FROM target t
WHERE i.invoice_id = t.invoice_id`;
}
