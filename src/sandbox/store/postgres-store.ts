import pg from 'pg';
import type { SandboxStore } from './sandbox-store.ts';
import type { Row, SqlSession, Statement } from './sql-session.ts';
import { sqlStore } from './sql-store.ts';

export interface PostgresStoreOptions {
  readonly connectionString: string;
  /** Default `lote_sandbox`. */
  readonly schema?: string;
}

// Writes are grouped, so one connection writes; the others serve reads of bodies meanwhile.
const CONNECTIONS = 4;

/** Books in a schema of a PostgreSQL database; one sandbox at a time uses a schema. */
export function postgresStore({ connectionString, schema = 'lote_sandbox' }: PostgresStoreOptions): SandboxStore {
  return sqlStore({ connect: () => openSession(connectionString, schema), schema });
}

async function openSession(connectionString: string, schema: string): Promise<SqlSession> {
  const lock = await lockSchema(connectionString, schema);
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS });
  // Without a listener an idle connection that breaks would end the process; the next query says what is wrong.
  pool.on('error', () => {});
  return {
    query: (statement) => runOne(pool, statement),
    async transaction(statements) {
      lock.mustHold();
      await runAll(pool, statements);
    },
    async close() {
      await pool.end();
      await lock.release();
    },
  };
}

interface SchemaLock {
  /** @throws when the connection that held the lock is gone: another sandbox may have written since. */
  readonly mustHold: () => void;
  readonly release: () => Promise<void>;
}

async function lockSchema(connectionString: string, schema: string): Promise<SchemaLock> {
  const client = new pg.Client({ connectionString });
  let lost: Error | null = null;
  client.on('error', (error) => {
    lost = error;
  });
  await client.connect();
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as taken';
  const { rows } = await client.query<{ taken: boolean }>(text, [`lote sandbox ${schema}`]);
  if (rows[0]?.taken !== true) {
    await client.end();
    throw new Error(
      `Opening the sandbox's store in schema ${schema}: one process may use it at a time, and another one does. Stop that one, or use another schema.`,
    );
  }
  return {
    mustHold() {
      if (lost === null) return;
      throw new Error("Writing the sandbox's books: the connection that held them is lost. Start the sandbox again.", {
        cause: lost,
      });
    },
    release: () => client.end().catch(() => {}),
  };
}

async function runOne(client: pg.Pool | pg.PoolClient, { text, values }: Statement): Promise<readonly Row[]> {
  const { rows } = await client.query<Row>(text, [...values]);
  return rows;
}

async function runAll(pool: pg.Pool, statements: readonly Statement[]): Promise<void> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('begin');
    for (const statement of statements) await runOne(client, statement);
    await client.query('commit');
    broken = false;
  } finally {
    // A connection that failed inside a transaction is thrown away, which also rolls back.
    client.release(broken);
  }
}
