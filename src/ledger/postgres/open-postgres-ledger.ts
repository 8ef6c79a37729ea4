import type { Ledger } from '../../domain/ports/ledger.ts';
import type { KeyOf } from '../key-of.ts';
import { openLedger } from '../ledger.ts';
import type { PostgresAddress } from './open-postgres-database.ts';
import { openPostgresDatabase } from './open-postgres-database.ts';

export interface PostgresLedgerOptions extends PostgresAddress {
  readonly keyOf: KeyOf;
}

/**
 * The ledger on a PostgreSQL server, for any number of processes.
 * @throws LoteError `ledger-unavailable` when it cannot be reached; `configuration-invalid` for a schema name that is none.
 */
export async function openPostgresLedger({ keyOf, ...address }: PostgresLedgerOptions): Promise<Ledger> {
  return openLedger({ database: openPostgresDatabase(address), schema: address.schema ?? null, keyOf });
}
