import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import { openPostgresLedger } from '../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import { postgresSchema } from '../../support/servers/postgres-schema.ts';
import type { OpenLedger } from './scenario.ts';

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

/** The same on PostgreSQL, in a schema of its own, which goes with it. */
export function sharedPostgresLedger(url: string): SharedLedger {
  const { connectionString, schema, drop } = postgresSchema(url);
  const shared = sharedLedger(() => openPostgresLedger({ connectionString, schema, keyOf: idempotencyKeyOf }));
  return {
    open: shared.open,
    async close() {
      await shared.close();
      await drop();
    },
  };
}
