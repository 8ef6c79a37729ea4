import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { endWithProcess } from '../process/end-with-process.ts';
import { childEnvironment } from '../process/child-environment.ts';
import { chooseHeldPort, holdPort, type HeldPort } from './held-port.ts';
import { listensOn } from './listens-on.ts';
import { connectTemporal } from './temporal-connection.ts';
import { openLockFile } from '../data-dir/lock-file.ts';
import { processStartTime } from '../process/process-start-time.ts';
import { readJson, writeJson } from '../data-dir/write-json.ts';

const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;
/** The dev server is up in half a second; a machine that is busy gets a minute. */
const START_MS = 60_000;
const STOP_MS = 10_000;
/** Between choosing a free port and listening there another program may take it. */
const STARTS = 3;
const POLL_INTERVAL_MS = 100;

const Record = z.object({ pid: z.number(), startTime: z.string(), port: z.number(), uiPort: z.number() });
type Record = z.infer<typeof Record>;

/**
 * An embedded Temporal server, as a child process or adopted from an owner that was killed. `address` is `host:port`.
 */
export interface TemporalServer {
  readonly address: string;
  readonly ui: string;
  readonly adopted: boolean;
  /** Whether its process lives. */
  alive(): Promise<boolean>;
  /**
   * A new process on the same ports and the same file; false when it did not come up. Call it only when the old one has ended.
   * @throws when it could not be started, such as on a full disk; nothing of it is left then.
   */
  restart(): Promise<boolean>;
  stop(): Promise<void>;
  /** For an end that waits for nothing. */
  kill(): void;
}

export interface TemporalServerOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly namespace: string;
  /** 0: any free one. Left out: 7233 and 8233, or the next free ones. */
  readonly port?: number;
  readonly uiPort?: number;
}

/**
 * Starts a Temporal dev server with its file in the data directory, so that runs survive a crash of any process. A
 * server that an earlier, killed owner of this directory left behind is adopted; the server of another directory never
 * is.
 * @throws LoteError `temporal-unavailable`
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const file = join(options.dataDir, 'temporal.json');
  const left = await leftBehind(file);
  if (left !== null) {
    const held = [await holdPort(left.port), await holdPort(left.uiPort)].filter((port) => port !== null);
    return serverOf(left, { options, file, adopted: true, held });
  }
  for (let start = 1; start <= STARTS; start += 1) {
    const held = await choosePorts(options);
    const [{ port }, { port: uiPort }] = held;
    const record = await launch(options, file, { port, uiPort }).catch((error: unknown) => {
      releaseAll(held);
      throw error;
    });
    if (record !== null) return serverOf(record, { options, file, adopted: false, held });
    releaseAll(held);
  }
  throw notStarted(options.dataDir);
}

interface Ports {
  readonly port: number;
  readonly uiPort: number;
}

async function choosePorts(wish: TemporalServerOptions): Promise<[HeldPort, HeldPort]> {
  const any = { host: '127.0.0.1', explicit: false, variable: 'TEMPORAL_ADDRESS' };
  const server = await chooseHeldPort({ ...any, port: wish.port ?? DEFAULT_PORT });
  const ui = { ...any, port: wish.uiPort ?? DEFAULT_UI_PORT, reserved: [server.port] };
  try {
    return [server, await chooseHeldPort(ui)];
  } catch (error) {
    server.release();
    throw error;
  }
}

function releaseAll(held: readonly HeldPort[]): void {
  for (const port of held) port.release();
}

/** One start; null when the server did not come up, for instance because another program took its port meanwhile. */
async function launch(options: TemporalServerOptions, file: string, { port, uiPort }: Ports): Promise<Record | null> {
  const child = await spawnServer(options, { port, uiPort });
  const { pid, ended } = child;
  if (pid === undefined) return null;
  void ended.then(endWithProcess(() => send('SIGKILL', pid)));
  try {
    const startTime = await processStartTime(pid);
    if (startTime === null) return null;
    const record = { pid, startTime, port, uiPort };
    await writeJson(file, record);
    const up = await Promise.race([answers(record, START_MS), ended.then(() => false)]);
    if (up && (await processStartTime(pid)) === startTime) return record;
    await stop(record);
    return null;
  } catch (error) {
    // Without a record nobody would ever end it, and it keeps the file.
    send('SIGKILL', pid);
    await ended;
    throw error;
  }
}

interface SpawnedServer {
  /** Undefined: it could not be started. */
  readonly pid: number | undefined;
  readonly ended: Promise<void>;
}

async function spawnServer(
  { binary, dataDir, namespace }: TemporalServerOptions,
  { port, uiPort }: Ports,
): Promise<SpawnedServer> {
  const lock = await requireFreeFile(dataDir);
  try {
    const log = await open(join(dataDir, 'temporal.log'), 'a');
    const child = spawn(binary, serverArguments({ port, uiPort, dataDir, namespace }), {
      // The server inherits the lock, and so holds it for exactly as long as it lives.
      stdio: ['ignore', log.fd, log.fd, lock],
      detached: true,
      env: childEnvironment(process.env),
    });
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    child.unref();
    await log.close();
    return { pid: child.pid, ended };
  } finally {
    closeSync(lock);
  }
}

/** A server may outlive its parent, unseen: in another process namespace its pid means nothing. Two on one file would destroy it. */
async function requireFreeFile(dataDir: string): Promise<number> {
  const lock = await openLockFile(join(dataDir, 'temporal.lock'), STOP_MS);
  if (lock !== null) return lock;
  throw new LoteError(
    'temporal-unavailable',
    `Starting the embedded Temporal server: no other process may have ${join(dataDir, 'temporal.db')} open, but a server that an earlier ` +
      'process started still has it open, where this process cannot see it (another container). End that server, then start again.',
  );
}

function serverArguments(place: { port: number; uiPort: number; dataDir: string; namespace: string }): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(place.port), '--ui-port', String(place.uiPort)],
    ...['--namespace', place.namespace, '--db-filename', join(place.dataDir, 'temporal.db'), '--log-level', 'error'],
    // WAL: runs survive a SIGKILL, and it is as fast as memory within noise.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    ...[
      '--search-attribute',
      'LoteBatch=Keyword',
      '--search-attribute',
      'LoteState=Keyword',
      '--search-attribute',
      'LoteProblems=Int',
    ],
  ];
}

async function leftBehind(file: string): Promise<Record | null> {
  const parsed = Record.safeParse(await readJson(file));
  if (!parsed.success) return null;
  if (!(await isRunning(parsed.data))) return null;
  if (await answers(parsed.data, STOP_MS)) return parsed.data;
  // Ours, but it does not answer: two servers on one file would be worse than a restart.
  await stop(parsed.data);
  return null;
}

/**
 * Whether the server of this process answers in time. Another program may have taken the port before it, even another Lote's server, which answers as
 * well: its runs and workers would be taken for ours. Ours ends then, as soon as it wants to listen.
 */
async function answers({ pid, port }: Record, patienceMs: number): Promise<boolean> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(POLL_INTERVAL_MS))
    if ((await anybodyAnswers(port)) && (await listensOn(pid, port)) !== false) return true;
  return false;
}

async function anybodyAnswers(port: number): Promise<boolean> {
  const connection = await connectTemporal({ address: `127.0.0.1:${port}` }, 1_000).catch(() => null);
  await connection?.close();
  return connection !== null;
}

interface StartedServer {
  readonly options: TemporalServerOptions;
  readonly file: string;
  readonly adopted: boolean;
  /** For as long as the server may come back. */
  readonly held: HeldPort[];
}

function serverOf(first: Record, { options, file, adopted, held }: StartedServer): TemporalServer {
  let record = first;
  return {
    address: `127.0.0.1:${first.port}`,
    ui: `http://127.0.0.1:${first.uiPort}`,
    adopted,
    alive: () => isRunning(record),
    async restart() {
      const next = await launch(options, file, first);
      if (next === null) return false;
      record = next;
      return true;
    },
    async stop() {
      await stop(record);
      await rm(file, { force: true });
      releaseAll(held.splice(0));
    },
    kill: () => killNow(record),
  };
}

/** One of which the system tells nothing, as where no further file may be opened, lives for all that is known. */
async function isRunning({ pid, startTime }: Record): Promise<boolean> {
  try {
    return (await processStartTime(pid)) === startTime;
  } catch {
    return true;
  }
}

function killNow({ pid }: Record): void {
  send('SIGKILL', pid);
}

function send(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, perhaps since it was last looked at.
  }
}

/** By pid and start time: never another process that got the pid meanwhile. */
async function stop(record: Record): Promise<void> {
  const alive = (): Promise<boolean> => isRunning(record);
  if (!(await alive())) return;
  send('SIGTERM', record.pid);
  for (const deadline = Date.now() + STOP_MS; Date.now() < deadline; await sleep(POLL_INTERVAL_MS))
    if (!(await alive())) return;
  if (await alive()) killNow(record);
}

function notStarted(dataDir: string): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Starting the embedded Temporal server: it did not come up. Look at its log, ${join(dataDir, 'temporal.log')}, and start Lote again.`,
  );
}
