import { skeletonOf } from '../../domain/look-alike.ts';
import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import type { Queries } from '../database/database.ts';
import { identityKey, lookAlikeKey } from './look-alike-key.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import { FIND_LOOK_ALIKES, KNOWN_IDENTITIES, LOCK_SPELLINGS, type LookAlikeRow } from './look-alikes-sql.ts';

/** An invoice of the ledger whose reference looks like that of a new one. */
export interface LookAlike {
  readonly ref: string;
  readonly ownerBatch: string;
  readonly state: string;
}

/**
 * For each new reference of a portion (by identity key) the invoice of the ledger that it looks like. References that the ledger knows exactly are left
 * out: what exists keeps its identity.
 */
export async function findLookAlikes(
  queries: Queries,
  application: string,
  identities: readonly InvoiceIdentity[],
): Promise<ReadonlyMap<string, LookAlike>> {
  const keys = new Map(identities.map((one) => [identityKey(one), lookAlikeKey(one)]));
  const odd = identities.filter(({ ref }) => skeletonOf(ref) !== ref).map(lookAlikeKey);
  await queries.query(odd.length === 0 ? LOCK_SPELLINGS.shared : LOCK_SPELLINGS.exclusive, [application]);
  const found = await queries.query<LookAlikeRow>(FIND_LOOK_ALIKES, [
    arrayLiteral([...keys.values()]),
    arrayLiteral(odd),
    arrayLiteral([...keys.keys()]),
  ]);
  if (found.length === 0) return new Map();
  const known = await queries.query<{ identity: string }>(KNOWN_IDENTITIES, [arrayLiteral([...keys.keys()])]);
  for (const { identity } of known) keys.delete(identity);
  const byKey = new Map(found.map((row) => [row.key, row]));
  const lookAlikes = new Map<string, LookAlike>();
  for (const [identity, key] of keys) {
    const row = byKey.get(key);
    if (row !== undefined)
      lookAlikes.set(identity, { ref: row.invoice_ref, ownerBatch: row.owner_batch, state: row.state });
  }
  return lookAlikes;
}
