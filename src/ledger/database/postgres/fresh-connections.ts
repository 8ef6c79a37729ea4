import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isLedgerAway, LoteError } from '../../../domain/errors.ts';
import { passingSqlState, isSqlState, StatementFailure } from '../statement-failure.ts';

/** As long as a pool waits for a new connection. */
const PATIENCE_MS = 10_000;
/** As long as a server that closes lets its requests end. */
const CLOSE_GRACE_MS = 5_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

interface FreshConnections {
  /** Runs `work` on a connection of the pool. @throws LoteError `ledger-unavailable` when there is none. */
  use<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>;
  /** Lets statements that are under way end for 5 s, and then ends their connections: what waits for a lock may wait for hours. */
  close(): Promise<void>;
}

/**
 * After a failover, connections to the demoted server would each fail once. Here one failure that belongs to a connection ends it, and every idle one of the
 * same generation is replaced before its next use.
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
      // A connection that breaks between two statements tells it here, and again by the next statement.
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

/** Asks a server that has no connection to spare again for a while: to fail at once would lose what waits to be recorded, such as the answer to a POST. */
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

/** Serialization failure and deadlock: the loser is asked to try again. */
const RETRY = new Set(['40001', '40P01']);

/** The server answers, but does not serve yet, or not any more: starting, stopping, changing roles, too many connections. */
const TOO_MANY = '53300';
const NOT_YET = new Set(['57P01', '57P02', '57P03', '25006', TOO_MANY]);

/** True for a serialization failure and a deadlock: the same statement or transaction may be run again. */
export function asksForRetry(error: unknown): boolean {
  return error instanceof StatementFailure && RETRY.has(error.sqlState);
}

/** Whether a server that has just answered so is likely to serve within seconds. */
export function isNotReadyYet(error: unknown): boolean {
  return error instanceof StatementFailure && NOT_YET.has(error.sqlState);
}

/** Whether the server has no connection to spare: for everybody, this user or this database. */
function lacksConnection(error: unknown): boolean {
  return error instanceof StatementFailure && error.sqlState === TOO_MANY;
}

/** Whether the trouble may end with the connection: then it, and every one that is as old, is replaced by a new one. */
function belongsToConnection(error: unknown): boolean {
  if (error instanceof StatementFailure) return passingSqlState(error.sqlState)?.connection === 'drop';
  return isLedgerAway(error);
}

/**
 * What pg threw, in Lote's words. Without an SQLSTATE the connection failed. The cause is left out: it may repeat the address, its password, or values of
 * a row.
 */
export function translateFailure(error: unknown, text: string): LoteError {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  if (error instanceof LoteError) return error;
  if (isSqlState(code)) return new StatementFailure(text, code, typeof constraint === 'string' ? constraint : null);
  return unavailable(typeof code === 'string' ? code : foundIn(error));
}

/** What the driver says without a code, and what would never pass by itself. */
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
