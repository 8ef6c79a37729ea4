import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { sql } from './postgres-schema.ts';

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
