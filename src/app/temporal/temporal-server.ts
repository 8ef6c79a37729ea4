import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
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
export interface TemporalServer {
  readonly address: string;
  readonly ui: string;
  /** Resolves when its current process has ended. */
  ended(): Promise<void>;
  /**
   * Starts a new process on the same ports and file. Returns false if it did not come up. Call this only after the old
   * process has ended.
   * @throws when the process could not be started, such as on a full disk; then no process is left.
   */
  restart(): Promise<boolean>;
  stop(): Promise<void>;
  /** Kills its process, as a crash does; for crash tests. */
  kill(): void;
}

export interface TemporalServerOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly namespace: string;
  readonly notify: Notify;
  /** 0 means any free port. Default: 7233 and 8233, or the next free ones. */
  readonly port?: number;
  readonly uiPort?: number;
}

interface Ports {
  readonly port: number;
  readonly uiPort: number;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
}

/**
 * Starts a Temporal dev server with its file in the data directory. The server ends with this process; its runs
 * survive. Lote puts a file aside with which no server starts, because the ledger is the truth.
 * @throws LoteError `temporal-unavailable`
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  for (let start = 1; start <= STARTS; start += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each start follows a failed one
    const server = await startOnFreePorts(options);
    if (server !== null) return server;
  }
  const server = await startWithoutFile(options);
  if (server !== null) return server;
  throw new LoteError(
    'temporal-unavailable',
    `Starting the embedded Temporal server: it did not come up. Look at its log, ${join(options.dataDir, 'temporal.log')}, and start Lote again.`,
  );
}

async function startOnFreePorts(options: TemporalServerOptions): Promise<TemporalServer | null> {
  const any = { host: '127.0.0.1', explicit: false, variable: 'TEMPORAL_ADDRESS' };
  const port = await choosePort({ ...any, port: options.port ?? DEFAULT_PORT });
  const uiPort = await choosePort({ ...any, port: options.uiPort ?? DEFAULT_UI_PORT, reserved: [port] });
  const first = await launch(options, { port, uiPort });
  if (first === null) return null;
  let running = first;
  return {
    address: `127.0.0.1:${port}`,
    ui: `http://127.0.0.1:${uiPort}`,
    ended: () => running.ended,
    async restart() {
      const next = await launch(options, { port, uiPort });
      running = next ?? running;
      return next !== null;
    },
    stop: () => end(running),
    kill: () => void running.child.kill('SIGKILL'),
  };
}

/** Puts the file back if the server does not start without it either, because then the file is not at fault. */
async function startWithoutFile(options: TemporalServerOptions): Promise<TemporalServer | null> {
  const file = join(options.dataDir, 'temporal.db');
  if (!existsSync(file)) return null;
  const aside = `${file}.unusable-${new Date().toISOString().replaceAll(/[:.]/gu, '-')}`;
  await moveDatabase(file, aside);
  const server = await startOnFreePorts(options);
  if (server === null) await moveDatabase(aside, file);
  else
    options.notify(
      `The embedded Temporal server cannot use ${file}: the file is now ${aside}, and a new one is begun. The ledger has everything that counts.`,
    );
  return server;
}

async function moveDatabase(from: string, to: string): Promise<void> {
  // The WAL moves first, because SQLite would apply it to another file beside it.
  for (const suffix of ['-wal', '-shm', ''])
    // oxlint-disable-next-line no-await-in-loop
    if (existsSync(`${from}${suffix}`)) await rename(`${from}${suffix}`, `${to}${suffix}`);
}

/** Starts once. Returns null if the server did not come up, for instance because another program took its port. */
async function launch(options: TemporalServerOptions, ports: Ports): Promise<Running | null> {
  const running = await spawnServer(options, ports);
  if (await isUp(running, ports.port)) return running;
  await end(running);
  return null;
}

async function spawnServer({ binary, dataDir, namespace }: TemporalServerOptions, ports: Ports): Promise<Running> {
  const lock = await requireFreeFile(dataDir);
  try {
    // The server works without a log, too.
    const log = await open(join(dataDir, 'temporal.log'), 'a').catch(() => null);
    const output = log?.fd ?? 'ignore';
    const parameters = ['-c', START_SCRIPT, binary, ...serverArguments({ ...ports, dataDir, namespace })];
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

function serverArguments(place: Ports & { dataDir: string; namespace: string }): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(place.port), '--ui-port', String(place.uiPort)],
    ...['--namespace', place.namespace, '--db-filename', join(place.dataDir, 'temporal.db'), '--log-level', 'error'],
    // With WAL, runs survive a SIGKILL, and its speed equals memory's within noise.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
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
  const server = await startTemporalServer({ binary, dataDir, namespace, notify });
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
 * cannot be kept running. Returns a function that resolves when the watch has stopped, so that its caller can stop the server without a restart.
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
    let failure: unknown;
    for (let restart = 1; ; restart += 1) {
      const started = performance.now();
      await Promise.race([server.ended(), releasing]);
      if (signal.aborted) return;
      if (performance.now() - started > SOON_MS) restart = 1;
      if (restart > MOST_RESTARTS) return onLost(lostError(failure));
      log.warn('the embedded Temporal server has ended; starting it again', { restart });
      const pauseMs = restart === 1 ? 0 : FIRST_PAUSE_MS * 2 ** (restart - 1);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (await server.restart()) log.warn('the embedded Temporal server is up again', { restart });
      } catch (err) {
        failure = err;
        log.warn('the embedded Temporal server could not be started again', { restart, err });
      }
    }
  }

  const watching = keepUp();
  return async () => {
    released.abort();
    await watching;
  };
}

function lostError(cause: unknown): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Keeping the embedded Temporal server up: it ended ${MOST_RESTARTS} times within ${(MOST_RESTARTS * SOON_MS) / 60_000} minutes. ` +
      'Look at temporal.log in the data directory (is the disk full?) and start Lote again; nothing is lost.',
    { cause },
  );
}
