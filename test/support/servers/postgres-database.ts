import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export type PostgresDatabase = Awaited<ReturnType<typeof postgresDatabase>>;

/** Makes a database for the test on the test run's server. Processes get it only by DATABASE_URL. */
export async function postgresDatabase(server: string) {
  const name = `lote_e2e_${randomBytes(6).toString('hex')}`;
  await sql(server, `CREATE DATABASE ${name}`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: address.href, idleTimeoutMillis: 500 });
  // A test may end the server while a connection waits for its next query.
  pool.on('error', () => undefined);
  return {
    url: address.href,
    /** Runs a query. Reuses its connection for half a second, because each new connection costs the server a process. */
    async rows<Row extends object>(text: string): Promise<readonly Row[]> {
      return (await pool.query<Row>(text)).rows;
    },
    async drop() {
      await pool.end();
      await sql(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Returns the test run's PostgreSQL; null if the machine has none, which the global set-up has reported. */
export function postgresUrl(): string | null {
  return inject('postgresUrl') ?? null;
}

/** Schemas on the run's own server end with the run, so no test drops them: that takes half as long as making them. */
const OUTLIVES_RUN = (process.env['TEST_DATABASE_URL'] ?? '') !== '';

/** Names a schema for this test file. */
export function postgresSchema(connectionString: string) {
  const schema = `lote_test_${randomBytes(6).toString('hex')}`;
  return {
    connectionString,
    schema,
    async drop() {
      if (OUTLIVES_RUN) await sql(connectionString, `DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    },
  };
}

/** Runs one statement on its own connection, beside the ledger. */
export async function sql(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
