import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import { withOtherZeros } from '../../domain/look-alike.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Queries } from '../database/database.ts';
import type { LookAlike } from './find-look-alikes.ts';
import { identityKey, type InvoiceKeys, invoiceKeys } from './look-alike-key.ts';

/**
 * NIFs: those of the lines of batches. The table `merchant` knows less: it is filled after a file is staged, and emptied with a new account. The first NIF
 * from each on is asked for, because an equality whose value seems frequent is looked for in the whole table.
 */
const KNOWN_NIFS = `/* known-nifs */
SELECT u.nif FROM unnest($1::text[]) AS u(nif)
JOIN LATERAL (
  SELECT bi.merchant_nif FROM batch_invoice bi WHERE bi.merchant_nif >= u.nif ORDER BY bi.merchant_nif LIMIT 1
) first ON first.merchant_nif = u.nif`;

/**
 * Identities, look-alike keys, identities that may have become one of the portion, the batch: as `find-look-alikes`, for the other tax numbers. A file
 * with both `1.1` and `1.10` has lost no zeros.
 */
const FIND_OTHER_ZEROS = `/* find-other-zeros */
SELECT i.identity AS key, i.identity, i.merchant_nif, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.identity = ANY($1::text[])
UNION ALL
SELECT i.look_alike, i.identity, i.merchant_nif, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.look_alike IS NOT NULL AND i.look_alike = ANY($2::text[])
UNION ALL
SELECT i.identity, i.identity, i.merchant_nif, i.invoice_ref, i.owner_batch, i.state
FROM invoice i WHERE i.identity = ANY($3::text[]) AND i.owner_batch <> $4`;

interface KnownRow {
  readonly key: string;
  readonly identity: string;
  readonly merchant_nif: string;
  readonly invoice_ref: string;
  readonly owner_batch: string;
  readonly state: string;
}

/**
 * For each new invoice of a portion (by identity key) the one that the ledger has under a tax number that is the same but for the zeros in front, and under
 * the same reference or one that looks like it: a spreadsheet drops the zeros of both when it saves the file, and no two taxpayers differ in them. Invoices
 * that the ledger knows exactly are left out.
 */
export async function findOtherZeros(
  queries: Queries,
  batchId: string,
  invoices: readonly InvoiceIdentity[],
): Promise<ReadonlyMap<string, LookAlike>> {
  const found = new Map<string, LookAlike>();
  const known = await knownNifs(queries, invoices);
  if (known.size === 0) return found;
  const asked = new Map<string, readonly InvoiceKeys[]>();
  for (const invoice of invoices) {
    const others = withOtherZeros(invoice.merchantNif).filter((nif) => known.has(nif));
    if (others.length === 0) continue;
    asked.set(
      identityKey(invoice),
      others.map((merchantNif) => invoiceKeys({ ...invoice, merchantNif })),
    );
  }
  const others = [...asked.values()].flat();
  const rows = await queries.query<KnownRow>(FIND_OTHER_ZEROS, [
    arrayLiteral([...asked.keys(), ...others.flatMap(({ identity, lookAlike }) => [identity, lookAlike])]),
    arrayLiteral(others.map(({ lookAlike }) => lookAlike)),
    arrayLiteral(others.flatMap(({ fuller }) => fuller)),
    batchId,
  ]);
  const identities = new Set(rows.map(({ identity }) => identity));
  const byKey = new Map(rows.map((row) => [row.key, row]));
  for (const [own, keys] of asked) {
    if (identities.has(own)) continue;
    const row = keys
      .flatMap(keysOf)
      .map((key) => byKey.get(key))
      .find((one) => one !== undefined);
    if (row === undefined) continue;
    const { invoice_ref: ref, owner_batch: ownerBatch, state, merchant_nif: nif } = row;
    found.set(own, { ref, ownerBatch, state, nif });
  }
  return found;
}

/** Under which the ledger may have it, the likeliest first. */
function keysOf({ identity, lookAlike, fuller }: InvoiceKeys): readonly string[] {
  return [identity, lookAlike, ...fuller];
}

/** Nearly always none: then nothing more is asked. One that only another application has costs a question, and finds nothing. */
async function knownNifs(queries: Queries, invoices: readonly InvoiceIdentity[]): Promise<ReadonlySet<string>> {
  const nifs = new Set(invoices.map(({ merchantNif }) => merchantNif));
  const others = [...nifs].flatMap((nif) => withOtherZeros(nif));
  if (others.length === 0) return new Set();
  const rows = await queries.query<{ nif: string }>(KNOWN_NIFS, [arrayLiteral(others)]);
  return new Set(rows.map(({ nif }) => nif));
}
