import { hash } from 'node:crypto';
import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import type { Reason } from '../../domain/invoice.ts';
import { shownSpelling, skeletonOf, withDroppedZeros } from '../../domain/look-alike.ts';
import { arrayLiteral } from '../sql.ts';
import type { Queries } from '../../database/database.ts';

/** The keys by which Lote finds an invoice or a look-alike. */
export interface InvoiceKeys {
  /** A hash of fixed size, so that no reference is too long for the unique index. */
  readonly identity: string;
  /** The same for all invoices that a person or a spreadsheet may confuse. */
  readonly skeleton: string;
  /** Skeletons of other references that a spreadsheet may turn into this one; they may be other invoices. */
  readonly fuller: readonly string[];
}

/** Makes the keys of an invoice. */
export function invoiceKeys(invoice: InvoiceIdentity): InvoiceKeys {
  const { application, merchantNif, ref } = invoice;
  return {
    identity: hash('sha256', JSON.stringify([application, merchantNif, ref]), 'base64url'),
    skeleton: skeletonKey(invoice),
    fuller: withDroppedZeros(ref).map((one) => skeletonKey({ ...invoice, ref: one })),
  };
}

const UUID_DIGITS = 32;

/** Returns the 16 bytes of the column `invoice.skeleton`. */
function skeletonKey({ application, merchantNif, ref }: InvoiceIdentity): string {
  const digits = hash('sha256', JSON.stringify([application, skeletonOf(merchantNif), skeletonOf(ref)])).slice(
    0,
    UUID_DIGITS,
  );
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/u, '$1-$2-$3-$4-$5');
}

const FIND_LOOK_ALIKES = `/* find-look-alikes */
SELECT i.skeleton, i.identity, i.merchant_nif AS nif, i.invoice_ref AS ref, i.owner_batch AS "ownerBatch", i.state
FROM invoice i WHERE i.skeleton = ANY($1::uuid[])`;

/** An invoice of the ledger that looks like a new one. */
export interface LookAlike {
  readonly skeleton: string;
  readonly identity: string;
  readonly nif: string;
  readonly ref: string;
  readonly ownerBatch: string;
  readonly state: string;
}

/** Returns the ledger's invoices with these skeletons, by skeleton. The unique index allows one for each. */
export async function findLookAlikes(
  queries: Queries,
  skeletons: readonly string[],
): Promise<ReadonlyMap<string, LookAlike>> {
  if (skeletons.length === 0) return new Map();
  const rows = await queries.query<LookAlike>(FIND_LOOK_ALIKES, [arrayLiteral(skeletons)]);
  return new Map(rows.map((row) => [row.skeleton, row]));
}

/**
 * Parameter: application. The unique index detects two batches that stage the same skeleton at once. A reference such
 * as `1.1` after `1.10` needs a lock: its portion and all others of the application wait for each other.
 */
const LOCK_FULLER = {
  shared: `/* lock-spellings-shared */ SELECT pg_advisory_xact_lock_shared(hashtext('lote look-alikes ' || $1))`,
  exclusive: `/* lock-spellings */ SELECT pg_advisory_xact_lock(hashtext('lote look-alikes ' || $1))`,
} as const;

/**
 * Finds for each invoice a fuller spelling in another batch, whose last zeros the invoice may have lost: `1.1` may be `1.10`. A file that has both spellings
 * has lost none, and a known identity stays as it is. Before it reads, the function takes one lock in its final strength until the transaction ends.
 */
export async function findFuller<Staged>(
  queries: Queries,
  { application, batchId }: { readonly application: string; readonly batchId: string },
  invoices: readonly { readonly staged: Staged; readonly keys: InvoiceKeys }[],
): Promise<Map<Staged, LookAlike>> {
  const asked = invoices.filter(({ keys }) => keys.fuller.length > 0);
  await queries.query(asked.length > 0 ? LOCK_FULLER.exclusive : LOCK_FULLER.shared, [application]);
  const known = await findLookAlikes(
    queries,
    asked.flatMap(({ keys }) => [keys.skeleton, ...keys.fuller]),
  );
  const found = new Map<Staged, LookAlike>();
  for (const { staged, keys } of asked) {
    const { identity, skeleton, fuller } = keys;
    const other = fuller.map((key) => known.get(key)).find((one) => one !== undefined && one.ownerBatch !== batchId);
    if (other !== undefined && known.get(skeleton)?.identity !== identity) found.set(staged, other);
  }
  return found;
}

/** Explains why Lote does not send an invoice that looks like one of the ledger. */
export function looksLike(
  { ref, nif: own }: { readonly ref: string; readonly nif: string },
  { ref: other, ownerBatch, state, nif }: LookAlike,
): Reason {
  const seen = JSON.stringify(shownSpelling(ref));
  const known = `${JSON.stringify(shownSpelling(other))} of batch "${ownerBatch}", there ${state}`;
  if (nif !== own)
    return {
      code: 'nif-look-alike',
      message: `The reference ${seen} looks like ${known}, which is known under the tax number ${nif}. The tax numbers differ only in the zeros in front, which a spreadsheet drops: write reference and tax number in the same way if it is the same merchant; if they are two, drop the corrections with --look-alikes keep`,
    };
  return {
    code: 'reference-look-alike',
    message: `The reference ${seen} looks like ${known}, and is not the same. Write it in the same way if it is the same invoice; if they are two, drop the corrections with --look-alikes keep`,
  };
}
