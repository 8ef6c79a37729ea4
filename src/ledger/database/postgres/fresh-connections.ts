import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { belongsToConnection, lacksConnection, translateFailure } from './connection-trouble.ts';

/** As long as a pool waits for a new connection. */
const PATIENCE_MS = 10_000;
/** As long as a server that closes lets its requests end. */
const CLOSE_GRACE_MS = 5_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

export interface FreshConnections {
  /** Runs `work` on a connection of the pool. @throws LoteError `ledger-unavailable` when there is none. */
  use<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>;
  /** Lets statements that are under way end for 5 s, and then ends their connections: what waits for a lock may wait for hours. */
  close(): Promise<void>;
}

/**
 * A pool hands out connections for as long as they live, also those to a server that was demoted. Here one failure that belongs to a connection
 * ends that connection, and every idle one of the same generation is replaced before its next use: after a failover each of
 * them would fail once.
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

/**
 * A server that has no connection to spare is asked again for a while: mostly one of our own, or of another process, comes free. To fail at once would lose
 * what waits to be recorded, such as the answer to a POST.
 */
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
