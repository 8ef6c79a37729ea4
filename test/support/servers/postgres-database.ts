import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export interface PostgresDatabase {
  readonly url: string;
  /** Rows of one query, on a connection that serves others of the next half second: a new one for each look of a test costs the server a process. */
  rows<Row extends object>(text: string): Promise<readonly Row[]>;
  drop(): Promise<void>;
}

/** A database of the test's own on the test run's server: processes are given it by DATABASE_URL alone. */
export async function postgresDatabase(server: string): Promise<PostgresDatabase> {
  const name = `lote_e2e_${randomBytes(6).toString('hex')}`;
  await sql(server, `CREATE DATABASE ${name}`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: address.href, idleTimeoutMillis: 500 });
  // A test may end the server while a connection waits for its next query.
  pool.on('error', () => undefined);
  return {
    url: address.href,
    async rows<Row extends object>(text: string) {
      return (await pool.query<Row>(text)).rows;
    },
    async drop() {
      await pool.end();
      await sql(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

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
