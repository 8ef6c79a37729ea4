import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { Notify } from '../../platform/files.ts';
import type { Config } from '../config/config.ts';
import { childEnvironment } from '../process/child-environment.ts';
import { openLockFile } from '../data-dir/directory-lock.ts';
import { choosePort } from '../process/free-port.ts';
import type { Logger } from '../process/logger.ts';
import { tested } from '../start/test-points.ts';
import { connectClient, connectTemporal, type TemporalPlace } from './temporal-connection.ts';
import { acquireTemporalBinary } from './temporal-binary.ts';

const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;
/** The dev server starts in half a second; a busy machine gets a minute. */
const START_MS = 60_000;
const STOP_MS = 10_000;
/** Another program may take a free port between its choice and the start of listening. */
const STARTS = 3;

/**
 * Starts the server and a watcher in one process group. The watcher reads a pipe whose other end Lote holds. When Lote
 * ends in any way, also by SIGKILL, the pipe closes and the group ends.
 */
const START_SCRIPT = 'exec 4<&0; (read -r _ <&4; kill -KILL 0) 3>&- & exec "$0" "$@" </dev/null 4<&-';

/** An embedded Temporal server in a child process. `address` is `host:port`. */
export type TemporalServer = Awaited<ReturnType<typeof startTemporalServer>>;

export interface TemporalServerOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly namespace: string;
  /** 0 means any free port. Default: 7233 and 8233, or the next free ones. */
  readonly port?: number;
  readonly uiPort?: number;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
}

/**
 * Starts a Temporal dev server with its file in the data directory. The server ends with this process; its runs
 * survive.
 * @throws LoteError `temporal-unavailable`
 */
export async function startTemporalServer(options: TemporalServerOptions) {
  const any = { host: '127.0.0.1', explicit: false, variable: 'TEMPORAL_ADDRESS' };
  for (let start = 1; start <= STARTS; start += 1) {
    const port = await choosePort({ ...any, port: options.port ?? DEFAULT_PORT });
    const uiPort = await choosePort({ ...any, port: options.uiPort ?? DEFAULT_UI_PORT, reserved: [port] });
    const place = { ...options, port, uiPort };
    let running = await launch(place);
    if (running === null) continue;
    return {
      address: `127.0.0.1:${port}`,
      ui: `http://127.0.0.1:${uiPort}`,
      /** Resolves when its current process has ended. */
      ended: (): Promise<void> => running?.ended ?? Promise.resolve(),
      /**
       * Starts a new process on the same ports and file. Returns false if it did not come up. Call this only after the
       * old process has ended.
       * @throws when the process could not be started, such as on a full disk; then no process is left.
       */
      async restart(): Promise<boolean> {
        running = await launch(place);
        return running !== null;
      },
      stop: async () => void (running !== null && (await end(running))),
      /** Kills its process, as a crash does; for crash tests. */
      kill: () => void running?.child.kill('SIGKILL'),
    };
  }
  const file = join(options.dataDir, 'temporal.db');
  throw new LoteError(
    'temporal-unavailable',
    `Starting the embedded Temporal server: it did not come up. Look at its log, ${join(options.dataDir, 'temporal.log')}, and start Lote again. ` +
      `If ${file} is damaged, move it and ${file}-wal away first: the ledger has everything that counts.`,
  );
}

/** Starts once. Returns null if the server did not come up, for instance because another program took its port. */
async function launch(place: Required<TemporalServerOptions>): Promise<Running | null> {
  const running = await spawnServer(place);
  if (await isUp(running, place.port)) return running;
  await end(running);
  return null;
}

async function spawnServer(place: Required<TemporalServerOptions>): Promise<Running> {
  const { dataDir } = place;
  const lock = await requireFreeFile(dataDir);
  try {
    // The server works without a log, too.
    const log = await open(join(dataDir, 'temporal.log'), 'a').catch(() => null);
    const output = log?.fd ?? 'ignore';
    const parameters = ['-c', START_SCRIPT, place.binary, ...serverArguments(place)];
    const child = spawn('/bin/sh', parameters, {
      // The server inherits the lock, and so holds it exactly as long as it lives.
      stdio: ['pipe', 'pipe', output, lock],
      detached: true,
      env: childEnvironment(process.env),
    });
    const ended = once(child, 'exit').then(
      () => undefined,
      () => undefined,
    );
    child.unref();
    (child.stdin as Socket | null)?.unref();
    child.stdin?.on('error', () => undefined);
    await log?.close();
    return { child, ended };
  } finally {
    closeSync(lock);
  }
}

/** Two servers on one file would destroy it. */
async function requireFreeFile(dataDir: string): Promise<number> {
  const lock = await openLockFile(join(dataDir, 'temporal.lock'), STOP_MS);
  if (lock !== null) return lock;
  throw new LoteError(
    'temporal-unavailable',
    `Starting the embedded Temporal server: no other process may have ${join(dataDir, 'temporal.db')} open, but a server that an earlier ` +
      'process started still has it open. End that server, then start again.',
  );
}

function serverArguments(place: Required<TemporalServerOptions>): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(place.port), '--ui-port', String(place.uiPort)],
    ...['--namespace', place.namespace, '--db-filename', join(place.dataDir, 'temporal.db'), '--log-level', 'error'],
    // With WAL, runs survive a SIGKILL, and its speed equals memory's within noise.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    // By default a run waits until one second has passed since the start before it continues on the queue of its build.
    ...['--dynamic-config-value', 'history.workflowIdReuseMinimalInterval="10ms"'],
    ...['LoteBatch=Keyword', 'LoteState=Keyword', 'LoteProblems=Int'].flatMap((one) => ['--search-attribute', one]),
  ];
}

/**
 * Returns true if the server of this process answers in time. The server prints its addresses when it listens; a port
 * that answers earlier may belong to another program.
 */
async function isUp({ child, ended }: Running, port: number): Promise<boolean> {
  const { stdout } = child;
  if (stdout === null) return false;
  const printed = once(stdout, 'data', { signal: AbortSignal.timeout(START_MS) }).then(
    () => true,
    () => false,
  );
  if (!(await Promise.race([printed, ended.then(() => false)]))) return false;
  (stdout.resume() as Socket).unref();
  const connection = await connectTemporal({ address: `127.0.0.1:${port}` }, START_MS).catch(() => null);
  await connection?.close();
  return connection !== null;
}

/** Asks the server to end, and kills its group if it does not. */
async function end({ child, ended }: Running): Promise<void> {
  child.kill('SIGTERM');
  const patience = new AbortController();
  await Promise.race([ended, sleep(STOP_MS, undefined, { signal: patience.signal }).catch(() => undefined)]);
  patience.abort();
  child.stdin?.destroy();
  await ended;
}

/** A connection to Temporal. `ui` is null if the address of the UI is unknown. */
export interface ConnectedTemporal {
  readonly place: TemporalPlace;
  readonly ui: string | null;
  readonly client: Client;
  stop(): Promise<void>;
}

interface TemporalWish {
  readonly config: Config;
  readonly log: Logger;
  readonly notify: Notify;
  readonly env: NodeJS.ProcessEnv;
  /** Real path of the data directory. */
  readonly dataDir: string;
  /** Called when the server cannot be kept running; omitted by a command that ends soon. */
  readonly onLost?: (error: LoteError) => void;
}

/** Starts a server with its file in the data directory, and restarts it when it dies. */
export async function embeddedTemporal(wish: TemporalWish): Promise<ConnectedTemporal> {
  const { config, log, notify, env, dataDir, onLost = () => undefined } = wish;
  const { namespace } = config.temporal;
  const binary = await acquireTemporalBinary(notify, env);
  const server = await startTemporalServer({ binary, dataDir, namespace });
  tested('temporal', server);
  const place = { address: server.address };
  const client = await connectClient(place, namespace).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const release = superviseTemporal(server, log, onLost);
  return {
    place,
    ui: server.ui,
    client,
    async stop() {
      await release();
      await client.connection.close();
      await server.stop();
    },
  };
}

/** So many ends in a row, each within this time of its start, are no accident: a disk is full, or a file is broken. */
const MOST_RESTARTS = 5;
const SOON_MS = 2 * 60_000;
const FIRST_PAUSE_MS = 500;

/**
 * Restarts an ended Temporal server on the same ports and file; workers and clients reconnect by themselves. Calls `onLost` when the server
 * does not come up again or ends soon again and again. Returns a function that resolves when the watch has stopped, so that its caller can stop the server without a restart.
 */
export function superviseTemporal(
  server: Pick<TemporalServer, 'ended' | 'restart'>,
  log: Pick<Logger, 'warn'>,
  onLost: (error: LoteError) => void,
): () => Promise<void> {
  const released = new AbortController();
  const { signal } = released;
  const releasing = once(signal, 'abort');

  async function keepUp(): Promise<void> {
    for (let restarts = 0; ; restarts += 1) {
      const started = performance.now();
      await Promise.race([server.ended(), releasing]);
      if (signal.aborted) return;
      if (performance.now() - started > SOON_MS) restarts = 0;
      if (restarts >= MOST_RESTARTS) break;
      await sleep(FIRST_PAUSE_MS * 2 ** restarts, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      log.warn('the embedded Temporal server has ended; starting it again', { restarts });
      const isUp = await server.restart().catch((err: unknown) => {
        log.warn('the embedded Temporal server could not be started again', { restarts, err });
        return false;
      });
      if (isUp) log.warn('the embedded Temporal server is up again');
    }
    onLost(
      new LoteError(
        'temporal-unavailable',
        `Keeping the embedded Temporal server up: it was restarted ${MOST_RESTARTS} times in a row, and did not stay up for ${SOON_MS / 60_000} minutes. ` +
          'Look at temporal.log in the data directory (is the disk full?) and start Lote again; nothing is lost.',
      ),
    );
  }

  const watching = keepUp();
  return async () => {
    released.abort();
    await watching;
  };
}
