export interface InsertedInvoice {
  readonly invoice_id: number;
  readonly identity: string;
}

/**
 * application, batchId, now, then arrays: identity, nif, ref, fingerprint, key, look-alike key (null: the reference is its own skeleton). Identities that are known stay untouched and do
 * not come back; one that another batch is just inserting is waited for.
 */
export const INSERT_INVOICES = `/* insert-invoices */
INSERT INTO invoice (application, owner_batch, changed_at, identity, merchant_nif, invoice_ref, fingerprint, idempotency_key, look_alike, state, generation)
SELECT $1, $2, $3, u.identity, u.merchant_nif, u.invoice_ref, u.fingerprint, u.idempotency_key, u.look_alike, 'staged', 1
FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
  AS u(identity, merchant_nif, invoice_ref, fingerprint, idempotency_key, look_alike)
ORDER BY u.identity
ON CONFLICT (identity) DO NOTHING
RETURNING invoice_id, identity`;
