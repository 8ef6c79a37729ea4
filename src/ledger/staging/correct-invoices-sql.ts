import { TRANSITIONS } from '../../domain/invoice-state.ts';
import { stateList } from '../database/states.ts';

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
