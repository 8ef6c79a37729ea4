import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isLedgerAway, LoteError } from '../domain/errors.ts';
import { type Database, type Queries, rowsOf, type SqlValue, runTransaction } from './database.ts';
import { isSqlState, passingSqlState, StatementFailure, statementLabel } from './statement-failure.ts';
import { createHash } from 'node:crypto';

/** Enough for the writers and readers of one worker process. A server allows 100 by default, and several workers share it. */
const CONNECTIONS = 10;

const CONNECT_TIMEOUT_MS = 10_000;

/** A demoted server keeps its connections, so no connection lives longer than this. */
const LONGEST_LIFE_S = 15 * 60;

/** The operating system's probes detect a server that vanished; by default they begin only after two hours. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** The server breaks deadlocks after deadlock_timeout (1 s); five losses in a row have another cause. */
const TRIES = 5;
const FIRST_PAUSE_MS = 5;

/** A process that stops in a transaction keeps its locks until the server ends it; other processes must not wait longer than for a heartbeat. */
const LONGEST_IDLE = '20s';

/**
 * Limit for an answer, because a network may keep a connection open and deliver nothing through it. It is longer than
 * any statement needs, also behind the locks of a migration.
 */
const LONGEST_STATEMENT_MS = 10 * 60_000;
/** Limit for statements that people wait for when a connection is half open: permissions, answers, deliveries. They take milliseconds. */
const LONGEST_QUICK_MS = 30_000;
const QUICK =
  /^(?:sending-batches|find-fact|is-being-sent|sendable|freeze|record-[a-z]+|insert-deliveries|issue-reported|settled-invoices|lock-answered|lock-heard)-/;
/** The frame of a transaction. All other statements without a name belong to a migration, which has no time limit. */
const FRAME = new Set(['BEGIN', 'COMMIT', 'ROLLBACK']);
/** These have no time limit either: the vacuum of tables with hundreds of millions of rows, and a purge, which may take a night. */
const LONG = /^(?:tidy-tables|purge|lock-purged-invoices)-/;

const INT8 = 20;

/** Lote writes the name into SQL as an identifier, so the pattern allows only plain names. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** The address of the database. `schema` becomes the search path; the default is the database's own. */
export interface PostgresAddress {
  readonly connectionString: string;
  readonly schema?: string;
  /** Milliseconds after which Lote gives up a statement without an answer, and its connection; default ten minutes. */
  readonly longestStatementMs?: number;
  /** As `longestStatementMs`, for permissions, answers, deliveries and the frame of a transaction; default 30 s. */
  readonly longestQuickMs?: number;
}

/** Opens a pool of PostgreSQL connections that take writes. Retries deadlocks and serialization failures. */
export function openPostgresDatabase(address: PostgresAddress): Database {
  const limits = {
    longestMs: address.longestStatementMs ?? LONGEST_STATEMENT_MS,
    quickMs: address.longestQuickMs ?? LONGEST_QUICK_MS,
  };
  const pool = new pg.Pool({
    connectionString: address.connectionString,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    maxLifetimeSeconds: LONGEST_LIFE_S,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    application_name: 'lote',
    types: { getTypeParser: typeParser },
    // The pool waits for the promise, though its types do not say so.
    onConnect: ((client) => answered(client, limits.quickMs, () => prepareConnection(client))) as (
      client: pg.ClientBase,
    ) => void,
    ...(address.schema === undefined ? {} : { options: `-c search_path=${schemaName(address.schema)}` }),
  });
  // When the server ends an idle connection, the process must go on; the next query reports the error.
  pool.on('error', () => undefined);
  const connections = freshConnections(pool);

  return {
    query: (text, params) => retrying(() => connections.use((client) => queryOn({ client, ...limits }, text, params))),
    transaction: (work) => retrying(() => connections.use((client) => transactionOn({ client, ...limits }, work))),
    close: () => connections.close(),
  };
}

/**
 * Prepares a connection. Sequential scans are off because a cached plan for an empty table would read all of a large one until the next ANALYZE. A server
 * that takes no writes was demoted or is not promoted yet, and its data may be old.
 */
async function prepareConnection(client: pg.ClientBase): Promise<void> {
  await client.query(`SET idle_in_transaction_session_timeout = '${LONGEST_IDLE}'`);
  await client.query(`SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`);
  const { rows } = await client.query<Prepared>(PREPARE);
  if (rows[0]?.read_only === 'on') throw new StatementFailure(PREPARE, '25006', null);
  // A pooler uses its own process ids, and may take the setting away with the next transaction.
  const isPooled = rows[0]?.pid !== (client as pg.ClientBase & { readonly processID: number }).processID;
  if (isPooled && rows[0]?.commits === 'off') throw commitsTooEarly();
}

interface Prepared {
  readonly read_only: string;
  readonly pid: number;
  /** The value for a connection that sets nothing. */
  readonly commits: string;
}

function commitsTooEarly(): LoteError {
  return new LoteError(
    'ledger-unavailable',
    'Using the PostgreSQL ledger: what is committed must be on the disk, but synchronous_commit is off by default there, and the pooler in between may take away what Lote sets for itself; ' +
      'nothing was sent; set it for the role of DATABASE_URL: ALTER ROLE … SET synchronous_commit = on',
  );
}

/**
 * `jit`: compiling takes longer than any statement of the ledger. `synchronous_commit`: frozen bytes must be on the disk before their POST leaves; values
 * other than `off` stay. `statement_timeout`: a role's own limit would end every purge; Lote limits the other statements itself. `default_statistics_target`:
 * the planner needs only the sizes of tables, and a tenth of the sample gives them.
 */
const PREPARE = `/* connect */ SELECT set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
  set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'local'), false),
  set_config('default_statistics_target', '10', false), set_config('statement_timeout', '0', false), current_setting('transaction_read_only') AS read_only,
  pg_backend_pid() AS pid, (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commits`;

/** Returns the name after it proves that the name is safe inside SQL. */
function schemaName(schema: string): string {
  if (SCHEMA_NAME.test(schema)) return schema;
  throw new LoteError(
    'configuration-invalid',
    `Opening the ledger: a schema name must match ${SCHEMA_NAME.source}, found "${schema}"`,
  );
}

interface Connection {
  readonly client: pg.PoolClient;
  readonly longestMs: number;
  readonly quickMs: number;
}

function transactionOn<Result>(on: Connection, work: (queries: Queries) => Promise<Result>): Promise<Result> {
  return runTransaction({ query: (text, params) => queryOn(on, text, params) }, work);
}

async function queryOn<Row extends object>(
  { client, longestMs, quickMs }: Connection,
  text: string,
  params: readonly SqlValue[] = [],
): Promise<readonly Row[]> {
  try {
    const name = statementName(text);
    const ask = () =>
      client.query<unknown[]>({ text, values: [...params], rowMode: 'array', ...(name === null ? {} : { name }) });
    const isQuick = name === null ? FRAME.has(text) : QUICK.test(name);
    const isLong = name === null ? !isQuick : LONG.test(name);
    const { fields, rows } = await (isLong ? ask() : answered(client, isQuick ? quickMs : longestMs, ask));
    return rowsOf<Row>(
      fields.map((field) => field.name),
      rows,
    );
  } catch (error) {
    throw translateFailure(error, text);
  }
}

/** Ends the connection when the answer does not come in time, so that the pending statement fails. */
async function answered<Answer>(client: pg.ClientBase, longestMs: number, ask: () => Promise<Answer>): Promise<Answer> {
  const timer = setTimeout(() => void (client as pg.Client).end(), longestMs);
  try {
    return await ask();
  } finally {
    clearTimeout(timer);
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

/** Reads int8 as a number, because ids and epoch milliseconds stay far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text');
}

const names = new Map<string, string>();

/**
 * Returns the name under which a connection caches a parsed and planned statement, or null if the statement is not the
 * ledger's own. The digest distinguishes two texts with one label.
 */
export function statementName(text: string): string | null {
  const known = names.get(text);
  if (known !== undefined) return known;
  const found = statementLabel(text);
  if (found === null) return null;
  const name = `${found}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
  names.set(text, name);
  return name;
}

/** Milliseconds; a pool waits equally long for a new connection. */
const PATIENCE_MS = 10_000;
/** Milliseconds; a closing server waits equally long for its requests. */
const CLOSE_GRACE_MS = 5_000;
const FIRST_CONNECT_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

interface FreshConnections {
  /** Runs `work` on a connection of the pool. @throws LoteError `ledger-unavailable` when there is none. */
  use<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>;
  /** Waits 5 s for running statements, and then ends their connections: a statement may wait for hours for a lock. */
  close(): Promise<void>;
}

/**
 * Wraps a pool, because after a failover each connection to the demoted server would fail once. Here one connection
 * failure ends that connection, and every idle connection of the same generation is replaced before its next use.
 */
function freshConnections(pool: pg.Pool): FreshConnections {
  const madeIn = new WeakMap<pg.ClientBase, number>();
  const inUse = new Set<pg.PoolClient>();
  let generation = 0;
  pool.on('connect', (client) => madeIn.set(client, generation));

  return {
    async use(work) {
      const client = await checkOut();
      let lost = false;
      const noteLoss = (): void => {
        lost = true;
      };
      // A connection that breaks between two statements emits this event; its next statement fails too.
      client.on('error', noteLoss);
      inUse.add(client);
      try {
        return await work(client);
      } catch (error) {
        if (belongsToConnection(error)) {
          lost = true;
          if (isCurrent(client)) generation += 1;
        }
        throw error;
      } finally {
        client.off('error', noteLoss);
        inUse.delete(client);
        client.release(lost);
      }
    },
    async close() {
      const cut = setTimeout(() => {
        for (const client of inUse) void (client as pg.ClientBase as pg.Client).end();
      }, CLOSE_GRACE_MS);
      await pool.end();
      clearTimeout(cut);
    },
  };

  async function checkOut(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await connect(pool);
      if (isCurrent(client)) return client;
      client.release(true);
    }
  }

  function isCurrent(client: pg.PoolClient): boolean {
    return madeIn.get(client) === generation;
  }
}

/** Retries for a while when the server has no free connection: an immediate failure would lose unrecorded data, such as the answer to a POST. */
async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const until = performance.now() + PATIENCE_MS;
  for (let pause = FIRST_CONNECT_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await pool.connect();
    } catch (error) {
      const failure = translateFailure(error, '/* connect */');
      if (!lacksConnection(failure) || performance.now() + pause > until) throw failure;
      await sleep(pause);
    }
  }
}

/** Serialization failure and deadlock: the database asks the losing transaction to retry. */
const RETRY = new Set(['40001', '40P01']);

/** The server answers, but does not serve yet or any more: it is starting, stopping, changing roles, or has too many connections. */
const TOO_MANY = '53300';
const NOT_YET = new Set(['57P01', '57P02', '57P03', '25006', TOO_MANY]);

/** Returns true for a serialization failure and a deadlock: the caller may run the same statement or transaction again. */
function asksForRetry(error: unknown): boolean {
  return error instanceof StatementFailure && RETRY.has(error.sqlState);
}

/** Returns true if the server, after this error, is likely to serve within seconds. */
export function isNotReadyYet(error: unknown): boolean {
  return error instanceof StatementFailure && NOT_YET.has(error.sqlState);
}

/** Returns true if the server has no free connection: at all, for this user or for this database. */
function lacksConnection(error: unknown): boolean {
  return error instanceof StatementFailure && error.sqlState === TOO_MANY;
}

/** Returns true if a new connection may end the error. The pool then replaces this connection and all of its generation. */
function belongsToConnection(error: unknown): boolean {
  if (error instanceof StatementFailure) return passingSqlState(error.sqlState)?.connection === 'drop';
  return isLedgerAway(error);
}

/**
 * Converts an error of pg to a LoteError. Without an SQLSTATE the connection failed. The result omits the cause, which
 * may contain the address, its password, or values of a row.
 */
function translateFailure(error: unknown, text: string): LoteError {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  if (error instanceof LoteError) return error;
  if (isSqlState(code)) return new StatementFailure(text, code, typeof constraint === 'string' ? constraint : null);
  return unavailable(typeof code === 'string' ? code : foundIn(error));
}

/** Messages of driver errors that have no code and would never pass by themselves. */
const REFUSED_BY_DRIVER: readonly (readonly [text: string, found: string])[] = [
  ['does not support SSL', 'a server without TLS, which sslmode in DATABASE_URL asks for'],
  ['client password must be a', 'a server that asks for a password, and none in DATABASE_URL or PGPASSWORD'],
];

function foundIn(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return REFUSED_BY_DRIVER.find(([text]) => message.includes(text))?.[1] ?? 'connection lost';
}

function unavailable(found: string): LoteError {
  return new LoteError(
    'ledger-unavailable',
    `Using the PostgreSQL ledger: expected an open connection, found ${found}; nothing was acknowledged; check DATABASE_URL and the server`,
  );
}
