import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import { openPostgresDatabase } from '../../../src/ledger/database/postgres/open-postgres-database.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { postgresSchema } from '../../support/servers/postgres-schema.ts';
import type { OpenLedger } from './scenario.ts';
import { askedDatabase, wholeReads, type AskedStatements } from '../../support/ledger/statement-plans.ts';

export interface SharedLedger {
  readonly open: OpenLedger;
  close(): Promise<void>;
}

/** One ledger for a whole test file: each test has an application of its own, and a database is slow to make. */
export function sharedLedger(open: OpenLedger): SharedLedger {
  let opened: Promise<Ledger> | null = null;
  return {
    open: () => (opened ??= open()),
    async close() {
      await (await opened)?.close();
    },
  };
}

export interface SharedPostgresLedger extends SharedLedger {
  /** Of everything that it was asked for until now: see `wholeReads`. */
  wholeReads(): Promise<readonly string[]>;
}

/** The same on PostgreSQL, in a schema of its own, which goes with it. */
export function sharedPostgresLedger(url: string): SharedPostgresLedger {
  const { connectionString, schema, drop } = postgresSchema(url);
  const asked: AskedStatements = new Map();
  const database = openPostgresDatabase({ connectionString, schema });
  const shared = sharedLedger(() =>
    openLedger({ database: askedDatabase(database, asked), schema, keyOf: idempotencyKeyOf }),
  );
  return {
    open: shared.open,
    wholeReads: () => wholeReads(database, asked),
    async close() {
      await shared.close();
      await drop();
    },
  };
}
