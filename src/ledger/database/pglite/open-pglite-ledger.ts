import type { Ledger } from '../../../domain/ports/ledger.ts';
import type { KeyOf } from '../key-of.ts';
import { openLedger } from '../../ledger.ts';
import { openPgliteDatabase } from './open-pglite-database.ts';

export interface PgliteLedgerOptions {
  /** Null: in memory. The caller holds the lock on it: PGlite has none, and two processes would both write and silently lose. */
  readonly directory: string | null;
  readonly keyOf: KeyOf;
}

/**
 * The embedded ledger. The first creation of a directory takes about 2.5 s.
 * @throws LoteError `ledger-unavailable` when the database does not start.
 */
export async function openPgliteLedger({ directory, keyOf }: PgliteLedgerOptions): Promise<Ledger> {
  return openLedger({ database: await openPgliteDatabase(directory), schema: null, keyOf });
}
