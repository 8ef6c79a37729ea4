import { CLOSED_BATCH_STATES } from '../database/sql.ts';

/** One row of `LOCK_KNOWN_INVOICES`. The last two: as in `Brought`. */
export interface KnownInvoice {
  readonly invoiceId: number;
  readonly identity: string;
  readonly isStaged: boolean;
  readonly isAwaited: boolean;
}

/** identities, batchId: the invoices that were there before, locked in sorted order until the decision about them is written. */
export const LOCK_KNOWN_INVOICES = `/* lock-known-invoices */
SELECT i.invoice_id, i.identity,
  i.owner_batch = $2 AND EXISTS (SELECT FROM batch_invoice bi WHERE bi.invoice_id = i.invoice_id AND bi.batch_id = $2) AS is_staged,
  i.owner_batch = $2 AND EXISTS (
    SELECT FROM batch_invoice other JOIN batch waiting ON waiting.batch_id = other.batch_id
    WHERE other.invoice_id = i.invoice_id AND other.batch_id <> $2 AND other.outcome IS NULL AND waiting.state NOT IN ${CLOSED_BATCH_STATES}
    OFFSET 0) AS is_awaited
FROM invoice i
WHERE i.identity = ANY($1::text[])
ORDER BY i.identity
FOR UPDATE OF i`;

/**
 * batchId, then arrays: ordinal, invoiceId, outcome, nif, ref, currency, net, rows (as array literals), findings (JSON), reason code, reason message. A
 * portion staged twice changes nothing.
 */
export const INSERT_BATCH_INVOICES = `/* insert-batch-invoices */
INSERT INTO batch_invoice (batch_id, ordinal, invoice_id, outcome, merchant_nif, invoice_ref, currency, net, file_rows, findings,
  reason_code, reason_message)
SELECT $1, u.ordinal, u.invoice_id, u.outcome, u.merchant_nif, u.invoice_ref, u.currency, u.net, u.file_rows::integer[], u.findings,
  u.reason_code, u.reason_message
FROM unnest($2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
  $12::text[]) AS u(ordinal, invoice_id, outcome, merchant_nif, invoice_ref, currency, net, file_rows, findings, reason_code, reason_message)
ON CONFLICT (batch_id, ordinal) DO NOTHING`;

/** Arrays: invoiceId, generation, content (JSON), merchant's legal name, merchant's e-mail. */
export const WRITE_CONTENTS = `/* write-contents */
INSERT INTO invoice_content (invoice_id, generation, content, merchant_legal_name, merchant_email)
SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[])
ON CONFLICT (invoice_id, generation) DO UPDATE SET content = excluded.content,
  merchant_legal_name = excluded.merchant_legal_name, merchant_email = excluded.merchant_email`;

/** One invoice whose identity was new to the ledger. */
export interface InsertedInvoice {
  readonly invoiceId: number;
  readonly identity: string;
}

/**
 * application, batchId, now, then arrays: identity, nif, ref, fingerprint, key, skeleton, generation. Known identities and skeletons stay untouched and do not
 * come back. One order for both, so that two batches that insert the same do not wait for each other.
 */
export const INSERT_INVOICES = `/* insert-invoices */
INSERT INTO invoice (application, owner_batch, changed_at, identity, merchant_nif, invoice_ref, fingerprint, idempotency_key, skeleton, state, generation)
SELECT $1, $2, $3, u.identity, u.merchant_nif, u.invoice_ref, u.fingerprint, u.idempotency_key, u.skeleton, 'staged', u.generation
FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::integer[])
  AS u(identity, merchant_nif, invoice_ref, fingerprint, idempotency_key, skeleton, generation)
ORDER BY u.skeleton, u.identity
ON CONFLICT DO NOTHING
RETURNING invoice_id, identity`;
