import { setTimeout as sleep } from 'node:timers/promises';
import { measuredDatabase } from '../database/database.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { isNotReadyYet, type PostgresAddress, openPostgresDatabase } from '../database/open-postgres-database.ts';
import type { MeasureStatement } from '../domain/records/measures.ts';

export interface PostgresLedgerOptions extends PostgresAddress {
  readonly measure?: MeasureStatement | undefined;
}

/** A server that starts, recovers or changes roles takes seconds; a process that starts at the same time should not fail because of it. */
const START_PATIENCE_MS = 30_000;
const ASK_EVERY_MS = 500;

/**
 * Opens the ledger on a PostgreSQL server, for any number of processes. Waits for a server that answers but does not serve yet.
 * @throws LoteError `ledger-unavailable` when it cannot be reached; `configuration-invalid` for an invalid schema name.
 */
export async function openPostgresLedger({ measure, ...address }: PostgresLedgerOptions): Promise<Ledger> {
  const until = performance.now() + START_PATIENCE_MS;
  for (;;) {
    try {
      const database = measuredDatabase(openPostgresDatabase(address), measure);
      return await openLedger(database, address.schema);
    } catch (error) {
      if (!isNotReadyYet(error) || performance.now() >= until) throw error;
      await sleep(ASK_EVERY_MS);
    }
  }
}
