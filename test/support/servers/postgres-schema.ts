import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import pg from 'pg';

export interface PostgresSchema {
  readonly connectionString: string;
  readonly schema: string;
  drop(): Promise<void>;
}

/** The test run's PostgreSQL; null when the machine has none, which the global set-up has said loudly. */
export function postgresUrl(): string | null {
  return inject('postgresUrl') ?? null;
}

/** The server of the run itself ends with the run, and all schemas with it: to drop one takes half as long as to make it. */
const OUTLIVES_RUN = (process.env['TEST_DATABASE_URL'] ?? '') !== '';

/** A schema of this test file's own. */
export function postgresSchema(connectionString: string): PostgresSchema {
  const schema = `lote_test_${randomBytes(6).toString('hex')}`;
  return {
    connectionString,
    schema,
    async drop() {
      if (OUTLIVES_RUN) await sql(connectionString, `DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    },
  };
}

/** One statement beside the ledger, on a connection of its own. */
export async function sql(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
