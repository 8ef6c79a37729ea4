import { openPostgresDatabase } from '../../../src/database/open-postgres-database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { askedDatabase, wholeReads, type AskedStatements } from '../../support/ledger/statement-plans.ts';
import { postgresSchema } from '../../support/servers/postgres-database.ts';

export interface SharedPostgresLedger {
  readonly ledger: Ledger;
  /** Of everything that it was asked for until now: see `wholeReads`. */
  wholeReads(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** One ledger for a whole test file, in a schema of its own, which goes with it: each test has an application of its own. Null: without a server. */
export async function sharedPostgresLedger(url: string | null): Promise<SharedPostgresLedger | null> {
  if (url === null) return null;
  const { connectionString, schema, drop } = postgresSchema(url);
  const asked: AskedStatements = new Map();
  const database = openPostgresDatabase({ connectionString, schema });
  const ledger = await openLedger(askedDatabase(database, asked), schema);
  return {
    ledger,
    wholeReads: () => wholeReads(database, asked),
    async close() {
      await ledger.close();
      await drop();
    },
  };
}
