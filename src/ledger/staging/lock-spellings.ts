import { isOddNif } from '../../domain/look-alike.ts';
import type { Queries } from '../database/database.ts';
import type { InvoiceKeys } from './look-alike-key.ts';

/**
 * application, 'shared' or not. Two batches that stage look-alikes at the same moment would not see each other: a portion with an odd spelling waits
 * for all others of the application, and they for it.
 */
const LOCK_SPELLINGS = {
  shared: `/* lock-spellings-shared */ SELECT pg_advisory_xact_lock_shared(hashtext('lote look-alikes ' || $1))`,
  exclusive: `/* lock-spellings */ SELECT pg_advisory_xact_lock(hashtext('lote look-alikes ' || $1))`,
} as const;

/** The tax number of an invoice, and the keys under which the ledger looks for it. */
export interface Spelled {
  readonly nif: string;
  readonly keys: InvoiceKeys;
}

/**
 * Locks the spellings of an application until the transaction ends, before anything is looked for. The lock is taken once and in its final strength:
 * two portions that both share it, and both want it alone, would wait for each other.
 */
export async function lockSpellings(
  queries: Queries,
  application: string,
  invoices: readonly Spelled[],
): Promise<void> {
  await queries.query(invoices.some(isOdd) ? LOCK_SPELLINGS.exclusive : LOCK_SPELLINGS.shared, [application]);
}

/** Of two spellings that may be one invoice, at least one is odd: the reference of one, or its tax number. */
function isOdd({ nif, keys: { identity, lookAlike, fuller } }: Spelled): boolean {
  return lookAlike !== identity || fuller.length > 0 || isOddNif(nif);
}
