import { arrayLiteral } from '../database/array-literal.ts';
import type { Queries } from '../database/database.ts';
import { fillUnkeyed } from './fill-look-alikes.ts';
import type { InvoiceKeys } from './look-alike-key.ts';

interface LookAlikeRow {
  readonly key: string;
  readonly invoice_ref: string;
  readonly owner_batch: string;
  readonly state: string;
}

/**
 * Look-alike keys of a portion, of its odd spellings alone, identities of the portion, identities that may have become one of them, the batch: invoices that
 * look like one of the portion and are none of it. A file with both `1.1` and `1.10` has lost no zeros.
 */
const FIND_LOOK_ALIKES = `/* find-look-alikes */
SELECT i.look_alike AS key, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.look_alike IS NOT NULL AND i.look_alike = ANY($1::text[]) AND NOT i.identity = ANY($3::text[])
UNION ALL
SELECT i.identity, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.identity = ANY($2::text[]) AND NOT i.identity = ANY($3::text[])
UNION ALL
SELECT i.identity, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.identity = ANY($4::text[]) AND NOT i.identity = ANY($3::text[]) AND i.owner_batch <> $5`;

/** identities: those that are known. */
const KNOWN_IDENTITIES = `/* known-identities */
SELECT identity FROM invoice WHERE identity = ANY($1::text[])`;

/** An invoice of the ledger whose reference looks like that of a new one. */
export interface LookAlike {
  readonly ref: string;
  readonly ownerBatch: string;
  readonly state: string;
  /** Where it is the tax number of the merchant that looks alike. */
  readonly nif?: string;
}

/**
 * For each new reference of a portion (by identity key) the invoice of the ledger that it looks like. References that the ledger knows exactly are left
 * out: what exists keeps its identity.
 */
export async function findLookAlikes(
  queries: Queries,
  batchId: string,
  invoices: readonly InvoiceKeys[],
): Promise<ReadonlyMap<string, LookAlike>> {
  const keys = new Map(invoices.map(({ identity, lookAlike }) => [identity, lookAlike]));
  const odd = invoices.flatMap(({ identity, lookAlike }) => (identity === lookAlike ? [] : [lookAlike]));
  await fillUnkeyed(queries);
  const found = await queries.query<LookAlikeRow>(FIND_LOOK_ALIKES, [
    arrayLiteral([...keys.values()]),
    arrayLiteral(odd),
    arrayLiteral([...keys.keys()]),
    arrayLiteral(invoices.flatMap(({ fuller }) => fuller)),
    batchId,
  ]);
  if (found.length === 0) return new Map();
  const known = await queries.query<{ identity: string }>(KNOWN_IDENTITIES, [arrayLiteral([...keys.keys()])]);
  for (const { identity } of known) keys.delete(identity);
  const byKey = new Map(found.map((row) => [row.key, row]));
  const lookAlikes = new Map<string, LookAlike>();
  for (const { identity, lookAlike, fuller } of invoices) {
    if (!keys.has(identity)) continue;
    const row = [lookAlike, ...fuller].map((key) => byKey.get(key)).find((one) => one !== undefined);
    if (row !== undefined)
      lookAlikes.set(identity, { ref: row.invoice_ref, ownerBatch: row.owner_batch, state: row.state });
  }
  return lookAlikes;
}
