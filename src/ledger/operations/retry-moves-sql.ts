import type { TransitionName } from '../../domain/invoice-state.ts';
import { INVOICE_OF_LINE, PAGE_OF } from '../batches/page-of-sql.ts';
import { CLOSED_BATCH_STATES, fromStates } from '../database/states.ts';
import { FLAGS_WITHOUT_OLDER_LEDGER } from '../settling/other-document-sql.ts';
import { WITHOUT_CANCELLATION } from './reconciling-sql.ts';

/**
 * One row of `RETRY_CANDIDATES`. `free` is true when this batch owns the invoice, or its owner is closed; `total_unconfirmed`
 * when the total of this batch waits for an operator.
 */
export interface RetryCandidateRow {
  readonly invoice_id: number;
  readonly ordinal: number;
  readonly page: number;
  readonly application: string;
  readonly merchant_nif: string;
  readonly invoice_ref: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly generation: number;
  readonly idempotency_key: string;
  readonly reason_code: string | null;
  readonly flags: readonly string[];
  readonly frozen_at: number | null;
  readonly free: boolean;
  readonly total_unconfirmed: boolean;
}

/**
 * batchId, states, rows or null, reason codes or null, ordinal after which to go on, limit. Locked until the decision about them is
 * written; a row that moved while it was waited for is judged as it is now.
 */
export const RETRY_CANDIDATES = `/* retry-candidates */
SELECT i.invoice_id, bi.ordinal, ${PAGE_OF} AS page, i.application, i.merchant_nif, i.invoice_ref, i.fingerprint, i.state, i.generation,
  i.idempotency_key, i.reason_code, i.flags, body.frozen_at,
  i.owner_batch = $1 OR owner.state IN ${CLOSED_BATCH_STATES} AS free,
  coalesce(t.confirmed_at IS NULL AND t.result::jsonb ->> 'kind' = 'unusual', false) AS total_unconfirmed
FROM (
  SELECT bi.invoice_id FROM batch_invoice bi JOIN ${INVOICE_OF_LINE}
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND bi.ordinal > $5
    AND i.state = ANY($2::text[])
    AND ($3::integer[] IS NULL OR bi.file_rows && $3::integer[])
    AND ($4::text[] IS NULL OR i.reason_code = ANY($4::text[]))
  ORDER BY bi.ordinal
  LIMIT $6
) chosen
JOIN invoice i ON i.invoice_id = chosen.invoice_id
JOIN batch_invoice bi ON bi.batch_id = $1 AND bi.invoice_id = i.invoice_id
JOIN batch b ON b.batch_id = $1
JOIN batch owner ON owner.batch_id = i.owner_batch
LEFT JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
LEFT JOIN total_check t ON t.batch_id = $1
ORDER BY i.invoice_id
FOR UPDATE OF i`;

/** An operator has accepted this risk; it says nothing of what comes now. */
const WITHOUT_OLDER_LEDGER = `flags = ${FLAGS_WITHOUT_OLDER_LEDGER}`;

/** batchId, now, then arrays: invoiceId, generation. Nothing of this generation reached the service; key and content stay. */
export const RELEASE_SELECTED = `/* release-selected */
UPDATE invoice i SET state = 'staged', owner_batch = $1, reason_code = NULL, reason_message = NULL, changed_at = $2, ${WITHOUT_OLDER_LEDGER}
FROM unnest($3::bigint[], $4::integer[]) AS u(invoice_id, generation)
WHERE i.invoice_id = u.invoice_id AND i.generation = u.generation AND i.state IN ${fromStates('release')}
RETURNING i.invoice_id`;

/** batchId, now, then arrays: invoiceId, generation. Same key, same bytes; the earlier answer may be lost, and stays so. */
export const REPEAT_SELECTED = `/* repeat-selected */
UPDATE invoice i SET state = 'sending', owner_batch = $1, exposure = 'lost', changed_at = $2, ${WITHOUT_CANCELLATION}, ${WITHOUT_OLDER_LEDGER}
FROM unnest($3::bigint[], $4::integer[]) AS u(invoice_id, generation)
WHERE i.invoice_id = u.invoice_id AND i.generation = u.generation AND i.state IN ${fromStates('repeat')}
RETURNING i.invoice_id`;

/** invoiceIds, now: an operator accepts that their bytes go again, whenever they were first sent. */
export const ACCEPT_RISK = `/* accept-risk */
UPDATE invoice_body body SET risk_accepted_at = $2
FROM invoice i
WHERE i.invoice_id = ANY($1::bigint[]) AND body.invoice_id = i.invoice_id AND body.generation = i.generation`;

/** invoiceIds: the same content once more, for the generation that comes. */
export const NEXT_CONTENT = `/* next-content */
INSERT INTO invoice_content (invoice_id, generation, content, merchant_legal_name, merchant_email)
SELECT c.invoice_id, c.generation + 1, c.content, c.merchant_legal_name, c.merchant_email
FROM invoice_content c JOIN invoice i ON i.invoice_id = c.invoice_id AND i.generation = c.generation
WHERE c.invoice_id = ANY($1::bigint[])`;

/**
 * batchId, now, then arrays: invoiceId, generation, key of the next generation. Flags stay, because what was found about this invoice is true of it
 * for ever; only the doubt about a restored ledger ends.
 */
function nextGeneration(name: Extract<TransitionName, 'regenerate' | 'abandon'>): string {
  return `/* ${name}-selected */
UPDATE invoice i SET
  idempotency_key = u.idempotency_key, generation = i.generation + 1, owner_batch = $1, state = 'staged',
  exposure = 'none', service_id = NULL, asks = 0, first_sent_at = NULL, accepted_at = NULL, settled_at = NULL,
  reason_code = NULL, reason_message = NULL, changed_at = $2, ${WITHOUT_OLDER_LEDGER}
FROM unnest($3::bigint[], $4::integer[], $5::text[]) AS u(invoice_id, generation, idempotency_key)
WHERE i.invoice_id = u.invoice_id AND i.generation = u.generation AND i.state IN ${fromStates(name)}
RETURNING i.invoice_id`;
}

/** Begins the next generation of a failed or rejected invoice, with a new key. Parameters as in `nextGeneration`. */
export const REGENERATE_SELECTED = nextGeneration('regenerate');

/**
 * Begins the next generation of an unknown invoice, with a new key: a second document is possible. Parameters as in
 * `nextGeneration`.
 */
export const ABANDON_SELECTED = nextGeneration('abandon');
