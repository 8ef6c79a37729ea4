import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import { withOtherZeros } from '../../domain/look-alike.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Queries } from '../database/database.ts';
import type { LookAlike } from './find-look-alikes.ts';
import { identityKey } from './look-alike-key.ts';

/** application, NIFs. */
const KNOWN_MERCHANTS = `/* known-merchants */
SELECT nif FROM merchant WHERE application = $1 AND nif = ANY($2::text[])`;

/** identities. */
const INVOICES_OF_IDENTITIES = `/* invoices-of-identities */
SELECT identity, merchant_nif, invoice_ref, owner_batch, state FROM invoice WHERE identity = ANY($1::text[])`;

interface KnownRow {
  readonly identity: string;
  readonly merchant_nif: string;
  readonly invoice_ref: string;
  readonly owner_batch: string;
  readonly state: string;
}

/**
 * For each new invoice of a portion (by identity key) the one that the ledger has under the same reference, and under a tax number that is the same but for the
 * zeros in front. A spreadsheet drops these, and no two taxpayers differ in them. Invoices that the ledger knows exactly are left out.
 */
export async function findOtherZeros(
  queries: Queries,
  invoices: readonly InvoiceIdentity[],
): Promise<ReadonlyMap<string, LookAlike>> {
  const found = new Map<string, LookAlike>();
  const known = await knownMerchants(queries, invoices);
  if (known.size === 0) return found;
  const keys = new Map<string, readonly string[]>();
  for (const invoice of invoices) {
    const others = withOtherZeros(invoice.merchantNif).filter((nif) => known.has(nif));
    if (others.length === 0) continue;
    keys.set(
      identityKey(invoice),
      others.map((merchantNif) => identityKey({ ...invoice, merchantNif })),
    );
  }
  const all = arrayLiteral([...keys].flatMap(([own, others]) => [own, ...others]));
  const rows = await queries.query<KnownRow>(INVOICES_OF_IDENTITIES, [all]);
  const byKey = new Map(rows.map((row) => [row.identity, row]));
  for (const [own, others] of keys) {
    const row = others.map((key) => byKey.get(key)).find((one) => one !== undefined);
    if (row === undefined || byKey.has(own)) continue;
    const { invoice_ref: ref, owner_batch: ownerBatch, state, merchant_nif: nif } = row;
    found.set(own, { ref, ownerBatch, state, nif });
  }
  return found;
}

/** Nearly always none: then nothing more is asked. */
async function knownMerchants(queries: Queries, invoices: readonly InvoiceIdentity[]): Promise<ReadonlySet<string>> {
  const [first] = invoices;
  if (first === undefined) return new Set();
  const nifs = new Set(invoices.map(({ merchantNif }) => merchantNif));
  const others = [...nifs].flatMap((nif) => withOtherZeros(nif));
  const rows = await queries.query<{ nif: string }>(KNOWN_MERCHANTS, [first.application, arrayLiteral(others)]);
  return new Set(rows.map(({ nif }) => nif));
}
