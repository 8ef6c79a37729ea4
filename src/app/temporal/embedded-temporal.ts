import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../process/logger.ts';
import { acquireTemporalBinary } from './temporal-binary.ts';
import type { TemporalPlace } from './temporal-connection.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';
import { tested } from '../start/test-points.ts';
import { connectClient } from './connect-client.ts';

/** A connection to Temporal. `ui` is null when the address of the UI is not known. */
export interface ConnectedTemporal {
  readonly place: TemporalPlace;
  readonly ui: string | null;
  readonly client: Client;
  /** Rejects when an embedded server cannot be kept up; never resolves. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
}

export interface TemporalWish {
  readonly config: Config;
  readonly log: Logger;
  readonly notify: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
  /** Real path of the data directory. */
  readonly dataDir: string;
}

/** Starts a server with its file in the data directory, and starts it again when it dies. */
export async function embeddedTemporal(wish: TemporalWish): Promise<ConnectedTemporal> {
  const { config, log, notify, env, dataDir } = wish;
  const { namespace } = config.temporal;
  const binary = await acquireTemporalBinary(notify, env);
  const server = tested('temporal', await startTemporalServer({ binary, dataDir, namespace, notify }));
  const place = { address: server.address };
  const client = await connectClient(place, namespace).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const supervised = superviseTemporal({ server, log, now: Date.now });
  return {
    place,
    ui: server.ui,
    client,
    lost: supervised.lost,
    async stop() {
      await supervised.release();
      await client.connection.close();
      await server.stop();
    },
  };
}

/** More ends than this within the window are no accident: a disk that is full, a file that is broken. */
const MOST_RESTARTS = 5;
const WINDOW_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 500;

export interface TemporalWatch {
  readonly server: Pick<TemporalServer, 'ended' | 'restart'>;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now: () => number;
}

export interface SupervisedTemporal {
  /** Rejects when the server cannot be kept up; never resolves. */
  readonly lost: Promise<never>;
  /** Stops watching, and only then returns: the caller may then stop the server without its being started again. */
  release(): Promise<void>;
}

/** Starts an ended Temporal server again, on the same ports and the same file; workers and clients reconnect by themselves. */
export function superviseTemporal({ server, log, now }: TemporalWatch): SupervisedTemporal {
  const released = new AbortController();
  const releasing = once(released.signal, 'abort');
  let fail: (error: LoteError) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => (fail = reject));
  // Users of the server learn of its loss through `lost`; a rejection before they listen must not end the process.
  lost.catch(() => undefined);
  const watching = watch().catch((cause: unknown) => fail(lostError(cause)));

  async function watch(): Promise<void> {
    let restarts: number[] = [];
    let failure: unknown;
    while (await endsBeforeRelease()) {
      restarts = restarts.filter((at) => at > now() - WINDOW_MS);
      if (restarts.length >= MOST_RESTARTS) {
        log.error('the embedded Temporal server ends again and again; giving up', { restarts: restarts.length });
        return fail(lostError(failure));
      }
      log.warn('the embedded Temporal server has ended; starting it again', { restart: restarts.length + 1 });
      if (!(await pause(restarts.length === 0 ? 0 : FIRST_PAUSE_MS * 2 ** restarts.length))) return;
      restarts.push(now());
      try {
        if (await server.restart()) log.warn('the embedded Temporal server is up again', { restart: restarts.length });
      } catch (err) {
        failure = err;
        log.warn('the embedded Temporal server could not be started again', { restart: restarts.length, err });
      }
    }
  }

  async function endsBeforeRelease(): Promise<boolean> {
    await Promise.race([server.ended(), releasing]);
    return !released.signal.aborted;
  }

  /** False when the watch was released meanwhile. */
  async function pause(ms: number): Promise<boolean> {
    await sleep(ms, undefined, { signal: released.signal, ref: false }).catch(() => undefined);
    return !released.signal.aborted;
  }

  return {
    lost,
    async release() {
      released.abort();
      await watching;
    },
  };
}

function lostError(cause?: unknown): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Keeping the embedded Temporal server up: it ended ${MOST_RESTARTS} times within ${WINDOW_MS / 60_000} minutes. ` +
      'Look at temporal.log in the data directory (is the disk full?) and start Lote again; nothing is lost.',
    cause === undefined ? {} : { cause },
  );
}
