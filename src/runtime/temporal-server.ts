import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { z } from 'zod';
import { LoteError } from '../domain/errors.ts';
import { choosePort } from './free-port.ts';
import { processStartTime } from './process-start-time.ts';
import { readJson, writeJson } from './write-json.ts';

const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;
/** The dev server is up in half a second; a machine that is busy gets a minute. */
const START_MS = 60_000;
const STOP_MS = 10_000;
const LOOK_EVERY_MS = 100;

const Record = z.object({ pid: z.number(), startTime: z.string(), port: z.number(), uiPort: z.number() });
type Record = z.infer<typeof Record>;

export interface TemporalServer {
  readonly address: string;
  readonly ui: string;
  readonly adopted: boolean;
  stop(): Promise<void>;
}

export interface TemporalServerOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly namespace: string;
}

/**
 * A Temporal dev server of our own, with its file in the data directory, so that runs survive a crash of anything. A server that an earlier,
 * killed owner of this directory left behind is adopted; a stranger's never is.
 * @throws LoteError `temporal-unavailable`
 */
export async function startTemporalServer({ binary, dataDir, namespace }: TemporalServerOptions): Promise<TemporalServer> {
  const file = join(dataDir, 'temporal.json');
  const left = await leftBehind(file);
  if (left !== null) return serverOf(left, true);
  const port = await choosePort({ host: '127.0.0.1', port: DEFAULT_PORT, explicit: false, variable: 'TEMPORAL_ADDRESS' });
  const uiPort = await choosePort({ host: '127.0.0.1', port: DEFAULT_UI_PORT, explicit: false, variable: 'TEMPORAL_ADDRESS' });
  const log = await open(join(dataDir, 'temporal.log'), 'a');
  const child = spawn(binary, serverArguments({ port, uiPort, dataDir, namespace }), { stdio: ['ignore', log.fd, log.fd], detached: true });
  await log.close();
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  child.unref();
  const pid = child.pid;
  const startTime = pid === undefined ? null : await processStartTime(pid);
  if (pid === undefined || startTime === null) throw notStarted(dataDir);
  const record = { pid, startTime, port, uiPort };
  await writeJson(file, record);
  const up = await Promise.race([healthy(port, START_MS), ended.then(() => false)]);
  if (!up) {
    await stop(record);
    throw notStarted(dataDir);
  }
  return serverOf(record, false);
}

function serverArguments(place: { port: number; uiPort: number; dataDir: string; namespace: string }): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(place.port), '--ui-port', String(place.uiPort)],
    ...['--namespace', place.namespace, '--db-filename', join(place.dataDir, 'temporal.db'), '--log-level', 'error'],
    // WAL: runs survive a SIGKILL, and it is as fast as memory within noise.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    ...['--search-attribute', 'LoteBatch=Keyword', '--search-attribute', 'LoteState=Keyword', '--search-attribute', 'LoteProblems=Int'],
  ];
}

async function leftBehind(file: string): Promise<Record | null> {
  const parsed = Record.safeParse(await readJson(file));
  if (!parsed.success) return null;
  const sameProcess = (await processStartTime(parsed.data.pid)) === parsed.data.startTime;
  return sameProcess && (await healthy(parsed.data.port, STOP_MS)) ? parsed.data : null;
}

async function healthy(port: number, patienceMs: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const connection = await Connection.connect({ address: `127.0.0.1:${port}`, connectTimeout: 1_000 }).catch(() => null);
    if (connection !== null) {
      await connection.close();
      return true;
    }
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}

function serverOf(record: Record, adopted: boolean): TemporalServer {
  return { address: `127.0.0.1:${record.port}`, ui: `http://127.0.0.1:${record.uiPort}`, adopted, stop: () => stop(record) };
}

/** By pid and start time: never another process that got the pid meanwhile. */
async function stop({ pid, startTime }: Record): Promise<void> {
  const alive = async (): Promise<boolean> => (await processStartTime(pid)) === startTime;
  if (!(await alive())) return;
  process.kill(pid, 'SIGTERM');
  for (const deadline = Date.now() + STOP_MS; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) if (!(await alive())) return;
  if (await alive()) process.kill(pid, 'SIGKILL');
}

function notStarted(dataDir: string): LoteError {
  return new LoteError('temporal-unavailable', `Starting the embedded Temporal server: it did not come up. Its log is ${join(dataDir, 'temporal.log')}.`);
}
