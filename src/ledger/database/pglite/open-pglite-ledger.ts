import type { Ledger } from '../../../domain/ports/ledger.ts';
import type { KeyOf } from '../key-of.ts';
import { openLedger } from '../../ledger.ts';
import { openPgliteDatabase, type PglitePlace } from './open-pglite-database.ts';

export interface PgliteLedgerOptions extends PglitePlace {
  readonly keyOf: KeyOf;
}

/**
 * The embedded ledger.
 * @throws LoteError `ledger-unavailable` when the database does not start.
 */
export async function openPgliteLedger({ keyOf, ...place }: PgliteLedgerOptions): Promise<Ledger> {
  return openLedger({ database: await openPgliteDatabase(place), schema: null, keyOf });
}
