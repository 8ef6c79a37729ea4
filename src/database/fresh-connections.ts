import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isLedgerAway, LoteError } from '../domain/errors.ts';
import { passingSqlState, isSqlState, StatementFailure } from './statement-failure.ts';

/** Milliseconds; a pool waits equally long for a new connection. */
const PATIENCE_MS = 10_000;
/** Milliseconds; a closing server waits equally long for its requests. */
const CLOSE_GRACE_MS = 5_000;
const FIRST_PAUSE_MS = 10;
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
export function freshConnections(pool: pg.Pool): FreshConnections {
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
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
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
export function asksForRetry(error: unknown): boolean {
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
export function translateFailure(error: unknown, text: string): LoteError {
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
