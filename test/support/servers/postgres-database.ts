import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { sql } from './postgres-schema.ts';

export interface PostgresDatabase {
  readonly url: string;
  /** Rows of one query, on a connection of its own. */
  rows<Row extends object>(text: string): Promise<readonly Row[]>;
  drop(): Promise<void>;
}

/** A database of the test's own on the test run's server: processes are given it by DATABASE_URL alone. */
export async function postgresDatabase(server: string): Promise<PostgresDatabase> {
  const name = `lote_e2e_${randomBytes(6).toString('hex')}`;
  await sql(server, `CREATE DATABASE ${name}`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  return {
    url: address.href,
    async rows<Row extends object>(text: string) {
      const client = new pg.Client({ connectionString: address.href });
      await client.connect();
      try {
        return (await client.query<Row>(text)).rows;
      } finally {
        await client.end();
      }
    },
    drop: () => sql(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}
