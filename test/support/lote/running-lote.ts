import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject } from 'vitest';
import type { Endpoints } from '../../../src/app/data-dir/endpoints-file.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { ownName, writeInvoiceFile, type InvoiceFile } from '../files/batch-file.ts';
import { ownPort } from '../servers/own-port.ts';
import { independentSandbox, issuedOnce, SANDBOX_KEY, startServiceFront } from '../servers/service-front.ts';
import { newPlace, processes, startLote, type CommandEnd, type Place, type RunningCommand } from './lote-command.ts';

const POLL_INTERVAL_MS = 100;

/** Settings with which the system chooses the ports. */
export const ANY_PORTS = { CONSOLE_PORT: '0', RECEIVER_PORT: '0', SANDBOX_PORT: '0' };

export type RunningLote = Awaited<ReturnType<typeof startLoteUp>>;

/** Starts `lote up` as a separate process in its own place. */
export async function startLoteUp(env: Readonly<Record<string, string>> = {}) {
  const place = await newPlace();
  const command = startLote(['up'], { ...place.env, ...ANY_PORTS, ...env });
  const endpoints = await endpointsOf(place, command.end).catch(async (error: unknown) => {
    await place.remove();
    throw error;
  });
  return {
    ...{ place, endpoints, console: endpoints.console ?? '', temporalUi: endpoints.temporalUi ?? '' },
    /** Ends Lote cleanly and removes its place. */
    async stop() {
      process.kill(command.pid, 'SIGTERM');
      await command.end;
      await place.remove();
    },
  };
}

async function endpointsOf({ dataDir }: Place, end: RunningCommand['end']): Promise<Endpoints> {
  let over: string | null = null;
  void end.then(({ code, stderr }) => (over = `exit code ${code}: ${stderr}`));
  for (;;) {
    const text = await readFile(join(dataDir, 'endpoints.json'), 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as Endpoints;
    if (over !== null) throw new Error(`lote up ended before it was up, ${String(over)}`);
    await sleep(POLL_INTERVAL_MS);
  }
}

/** A separate place for Lote, with a sandbox whose books outlive all processes and judge them. */
export type LotePlace = Awaited<ReturnType<typeof lotePlace>>;

export interface LotePlaceOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  readonly env?: Readonly<Record<string, string>>;
  /** Merged over the default service profile. */
  readonly profile?: object;
  /** `own`: Lote starts a Temporal server. Default: the server of the test run, which runs already. */
  readonly temporal?: 'own' | 'shared';
  /** True if `lote up` owns the data directory. The other commands then get the task queue from the owner. */
  readonly up?: boolean;
}

/** Prepares a place for the commands of one test or of one `describe`, which must remove it. */
export async function lotePlace(options: LotePlaceOptions = {}) {
  const [place, sandbox] = [await newPlace(), await independentSandbox(options.sandbox)];
  const front = await startServiceFront(sandbox.url);
  const all = processes();
  const profile = join(place.directory, 'profile.json');
  await writeFile(profile, JSON.stringify(options.profile ?? {}));
  await mkdir(place.inputDir, { recursive: true });
  const shared: Record<string, string> = options.temporal === 'own' ? {} : sharedTemporal();
  const own: Readonly<Record<string, string>> = {
    ...(await sandboxEnv(place, front)),
    ...shared,
    ...(options.profile !== undefined && { SERVICE_PROFILE: profile }),
    ...{ LOTE_SETTLE_TIMEOUT: '60s', LOTE_DROP_STABLE_FOR: '50ms', ...options.env },
  };
  const owner = options.up === true ? all.start(['up'], own) : null;
  const { LOTE_TASK_QUEUE: _queue, ...known } = own;
  const env = owner === null ? own : known;
  const endpoints = owner === null ? null : await endpointsOf(place, owner.end);
  return {
    ...{ ...place, env, sandbox, front, all, console: endpoints?.console ?? '' },
    /** Writes a file into the input folder; resolves to its path. */
    async file(name: string, content: InvoiceFile | string | Uint8Array) {
      const path = join(place.inputDir, name);
      await mkdir(dirname(path), { recursive: true });
      if (typeof content === 'string' || content instanceof Uint8Array) await writeFile(path, content);
      else await writeInvoiceFile(path, content);
      return path;
    },
    run: (...parameters: readonly string[]) => all.start(parameters, env).end,
    start: (...parameters: readonly string[]) => all.start(parameters, env),
    expectIssued: issuedOnce(sandbox),
    async remove() {
      await all.killAll();
      await front.close();
      await sandbox.close();
      await place.remove();
    },
  };
}

/** Returns the environment of a Lote at a sandbox that outlives it. The receiver port stays the same at each start. */
export async function sandboxEnv(
  place: Pick<Place, 'env'>,
  sandbox: { readonly url: string },
): Promise<Readonly<Record<string, string>>> {
  const port = await ownPort();
  return {
    ...place.env,
    INVOICING_BASE_URL: sandbox.url,
    INVOICING_API_KEY: SANDBOX_KEY,
    RECEIVER_PORT: String(port),
    WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
    CONSOLE_PORT: '0',
  };
}

/**
 * Lets a Lote use the Temporal server of the test run, under its own name, because each start of a server costs a
 * second of CPU time. Use it in tests whose subject is not the server.
 */
export function sharedTemporal(): Record<string, string> {
  const name = ownName('shared');
  return { TEMPORAL_ADDRESS: inject('temporalAddress'), LOTE_TASK_QUEUE: name, LOTE_APPLICATION: name };
}

/** A batch in the JSON output of a command. */
export interface CommandBatch {
  readonly id: string;
  readonly state: string;
  readonly exitCode: number;
  readonly revision: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly reports: { readonly json: string; readonly html: string; readonly corrections: string | null };
}

/** Returns the JSON that a command has written. Throws with the command's error output if there is none. */
export function documentOf<T>({ code, stdout, stderr }: CommandEnd): T {
  if (stdout === '') throw new Error(`The command left with ${code} and no document: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Returns the batches in the output of `run`, `status`, `retry` and similar commands. */
export function batchesOf(end: CommandEnd): readonly CommandBatch[] {
  return documentOf<{ batches: readonly CommandBatch[] }>(end).batches;
}

/** Returns the first batch in the output. */
export function batchOf(end: CommandEnd): CommandBatch {
  return batchesOf(end)[0] ?? expect.fail(`no batch: ${end.stderr}`);
}

/** Reads a JSON file: a report, or the summary of a night. */
export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}
