import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { LoteError } from '../../domain/errors.ts';
import type { Database, Queries, SqlValue } from '../database.ts';
import { runTransaction } from '../run-transaction.ts';
import { statementName } from './statement-name.ts';
import { asksForRetry, translateFailure } from './connection-trouble.ts';

/** Enough for the writers and readers of one worker process; a server takes 100 by default and several workers share it. */
const CONNECTIONS = 10;

const CONNECT_TIMEOUT_MS = 10_000;

/** Deadlocks are broken after deadlock_timeout (1 s) in the server; five losses in a row mean something else is wrong. */
const TRIES = 5;
const FIRST_PAUSE_MS = 5;

/**
 * A process that stands still in the middle of a transaction keeps its locks until the server takes them: others must not wait for it longer
 * than for its heartbeat. One whose machine is gone is found out by the server's probes, which begin after two hours unless told.
 */
const LONGEST_IDLE = '20s';

const INT8 = 20;

/** Written into SQL as an identifier, so nothing but plain names. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

export interface PostgresAddress {
  readonly connectionString: string;
  readonly schema?: string;
}

/** A pool of PostgreSQL connections; deadlocks and serialization failures are retried. */
export function openPostgresDatabase(address: PostgresAddress): Database {
  const pool = new pg.Pool({
    connectionString: address.connectionString,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'lote',
    types: { getTypeParser: typeParser },
    // The pool waits for it, though its types do not say so.
    onConnect: findByIndex as (client: pg.ClientBase) => void,
    ...(address.schema === undefined ? {} : { options: `-c search_path=${schemaName(address.schema)}` }),
  });
  // An idle connection that the server ends must not end the process; the next query says so itself.
  pool.on('error', () => undefined);

  return {
    query: (text, params) => retrying(() => queryOn(pool, text, params)),
    transaction: (work) => retrying(() => transactionOn(pool, work)),
    close: () => pool.end(),
  };
}

/**
 * Every statement of the ledger finds its rows by an index; where none fits, the table is read all the same. A plan that is kept must not be one that was made for an empty table: until the next ANALYZE it would read all of a large one.
 */
async function findByIndex(client: pg.ClientBase): Promise<void> {
  await client.query('SET enable_seqscan = off');
  await client.query(`SET idle_in_transaction_session_timeout = '${LONGEST_IDLE}'`);
  await client.query(`SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`);
}

/** The name, proved to be safe inside SQL. */
function schemaName(schema: string): string {
  if (SCHEMA_NAME.test(schema)) return schema;
  throw new LoteError(
    'configuration-invalid',
    `Opening the ledger: a schema name must match ${SCHEMA_NAME.source}, found "${schema}"`,
  );
}

async function transactionOn<Result>(pool: pg.Pool, work: (queries: Queries) => Promise<Result>): Promise<Result> {
  const client = await connect(pool);
  let lost = false;
  // A connection that breaks between two statements tells it here, and again by the next statement.
  client.on('error', noteLoss);
  try {
    return await runTransaction({ query: (text, params) => queryOn(client, text, params) }, work);
  } catch (error) {
    lost ||= error instanceof LoteError && error.code === 'ledger-unavailable';
    throw error;
  } finally {
    client.off('error', noteLoss);
    client.release(lost);
  }

  function noteLoss(): void {
    lost = true;
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw translateFailure(error, 'CONNECT');
  }
}

async function queryOn<Row extends object>(
  on: pg.Pool | pg.PoolClient,
  text: string,
  params: readonly SqlValue[] = [],
): Promise<readonly Row[]> {
  try {
    const name = statementName(text);
    const { rows } = await on.query<Row & pg.QueryResultRow>({
      text,
      values: [...params],
      ...(name === null ? {} : { name }),
    });
    return rows;
  } catch (error) {
    throw translateFailure(error, text);
  }
}

async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= TRIES || !asksForRetry(error)) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** attempt);
    }
  }
}

/** int8 as number: ids and epoch milliseconds stay far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text');
}
