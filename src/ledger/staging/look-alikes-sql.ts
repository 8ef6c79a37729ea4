/**
 * application, 'shared' or not. Two batches that stage look-alikes at the same moment would not see each other: a portion with an odd spelling waits
 * for all others of the application, and they for it.
 */
export const LOCK_SPELLINGS = {
  shared: `/* lock-spellings-shared */ SELECT pg_advisory_xact_lock_shared(hashtext('lote look-alikes ' || $1))`,
  exclusive: `/* lock-spellings */ SELECT pg_advisory_xact_lock(hashtext('lote look-alikes ' || $1))`,
} as const;

export interface LookAlikeRow {
  readonly key: string;
  readonly invoice_ref: string;
  readonly owner_batch: string;
  readonly state: string;
}

/** Look-alike keys of a portion, of its odd spellings alone, identities of the portion: invoices that look like one of it and are none of it. */
export const FIND_LOOK_ALIKES = `/* find-look-alikes */
SELECT i.look_alike AS key, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.look_alike IS NOT NULL AND i.look_alike = ANY($1::text[]) AND NOT i.identity = ANY($3::text[])
UNION ALL
SELECT i.identity, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.identity = ANY($2::text[]) AND NOT i.identity = ANY($3::text[])`;

/** identities: those that are known. */
export const KNOWN_IDENTITIES = `/* known-identities */
SELECT identity FROM invoice WHERE identity = ANY($1::text[])`;
