import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject } from 'vitest';
import type { Endpoints } from '../../../src/app/data-dir/endpoints-file.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { ownName, writeInvoiceFile, type InvoiceFile } from '../files/batch-file.ts';
import { untilOr } from '../until.ts';
import { ownPort } from '../servers/own-port.ts';
import { independentSandbox, issuedOnce, SANDBOX_KEY, startServiceFront } from '../servers/service-front.ts';
import { newPlace, processes, startLote, type CommandEnd, type Place, type RunningCommand } from './lote-command.ts';

/** Settings with which the system chooses the ports. */
export const ANY_PORTS = { CONSOLE_PORT: '0', RECEIVER_PORT: '0', SANDBOX_PORT: '0' };

export type RunningLote = Awaited<ReturnType<typeof startLoteUp>>;

/** Starts `lote up` with its built-in sandbox as a separate process in its own place. */
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
    async remove() {
      command.signal('SIGTERM');
      await command.end;
      await place.remove();
    },
  };
}

async function endpointsOf({ dataDir }: Place, end: RunningCommand['end']): Promise<Endpoints> {
  const file = join(dataDir, 'endpoints.json');
  if (await untilOr(end, () => existsSync(file))) return readJson(file);
  const { code, stderr } = await end;
  throw new Error(`lote up ended before it was up, exit code ${code}: ${stderr}`);
}

/** Prepares a separate place, with a sandbox whose books outlive all processes and judge them, and the front before it. */
export async function servedPlace(sandboxOptions: Partial<SandboxOptions> = {}, profile: object = {}) {
  const [place, sandbox] = await Promise.all([newPlace(), independentSandbox(sandboxOptions)]);
  const front = await startServiceFront(sandbox.url);
  const all = processes();
  const serviceProfile = join(place.directory, 'profile.json');
  await writeFile(serviceProfile, JSON.stringify(profile));
  await mkdir(place.inputDir, { recursive: true });
  return {
    ...{ ...place, sandbox, front, all, serviceProfile },
    /** Writes a file into the input folder; resolves to its path. */
    async file(name: string, content: InvoiceFile | string | Uint8Array) {
      const path = join(place.inputDir, name);
      await mkdir(dirname(path), { recursive: true });
      if (typeof content === 'string' || content instanceof Uint8Array) await writeFile(path, content);
      else await writeInvoiceFile(path, content);
      return path;
    },
    expectIssued: issuedOnce(sandbox),
    async remove() {
      await all.killAll();
      await front.close();
      await sandbox.close();
      await place.remove();
    },
  };
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
  const place = await servedPlace(options.sandbox, options.profile);
  const { all, front } = place;
  const own: Readonly<Record<string, string>> = {
    ...(await sandboxEnv(place, front)),
    ...(options.temporal === 'own' ? {} : sharedTemporal()),
    ...(options.profile !== undefined && { SERVICE_PROFILE: place.serviceProfile }),
    ...{ LOTE_SETTLE_TIMEOUT: '60s', LOTE_DROP_STABLE_FOR: '50ms', ...options.env },
  };
  const owner = options.up === true ? all.start(['up'], own) : null;
  const { LOTE_TASK_QUEUE: _queue, ...known } = own;
  const env = owner === null ? own : known;
  const endpoints = owner === null ? null : await endpointsOf(place, owner.end);
  const start = (...parameters: readonly string[]) => all.start(parameters, env);
  return {
    ...{ ...place, env, start, owner, console: endpoints?.console ?? '' },
    run: (...parameters: readonly string[]) => start(...parameters).end,
  };
}

/** Returns the environment of a Lote at a sandbox that outlives it. The receiver port stays the same at each start. */
export async function sandboxEnv(place: Pick<Place, 'env'>, sandbox: { readonly url: string }) {
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
export function sharedTemporal() {
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

/** A night in the JSON output of `nightly now`. */
interface CommandNight {
  readonly files: number;
  readonly problems: number;
  readonly waiting: number;
  readonly reports: { readonly json: string; readonly html: string };
}

/** Returns the night that `nightly now` has run. */
export function nightIn(end: CommandEnd): CommandNight {
  return documentOf<{ night: CommandNight }>(end).night;
}

/** The part of a night's summary that tests of commands read. */
interface NightSummary {
  readonly totals: Readonly<Record<string, number>>;
  readonly runs: readonly {
    readonly files: readonly {
      readonly batchId: string;
      readonly report: string;
      readonly corrections: string | null;
      readonly remarks: readonly object[];
    }[];
    readonly waiting: readonly object[];
  }[];
}

/** Reads the summary of the night that `nightly now` has run. */
export function nightSummary(end: CommandEnd): Promise<NightSummary> {
  return readJson(nightIn(end).reports.json);
}

interface Check {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

/** Returns a check in the output of `doctor`; undefined if doctor has not made it. */
export function checkIn(end: CommandEnd, name: string): Check | undefined {
  return documentOf<{ checks: readonly Check[] }>(end).checks.find((check) => check.name === name);
}

/** The part of report.json that tests of commands read. */
export interface CommandReport {
  readonly schema: string;
  readonly batch: { readonly revision: number };
  readonly counts: Readonly<Record<string, number>>;
  readonly invoices: readonly {
    readonly ref: string;
    readonly state: string;
    readonly merchantNif: string;
    readonly serviceId: string | null;
    readonly attempts: number;
  }[];
  readonly fileFindings: readonly { readonly code: string; readonly severity: string }[];
  readonly misfits: readonly { readonly code: string; readonly message: string }[];
  readonly audit: readonly { readonly at: string }[];
  readonly notes: readonly string[];
}

/** Reads report.json of a batch. */
export function reportOf({ reports }: Pick<CommandBatch, 'reports'>): Promise<CommandReport> {
  return readJson(reports.json);
}

/** Reads a JSON file: a report, or the summary of a night. */
export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

/** Moves all times of the send log in the reports folder back by `ms`. */
export async function ageSendLog(reportsDir: string, ms: number): Promise<void> {
  const folder = join(reportsDir, '.lote-sent');
  for (const name of await readdir(join(folder, 'keys'))) {
    const path = join(folder, 'keys', name);
    const aged = (await readFile(path, 'utf8')).replaceAll(/"at":(\d+)/g, (_, at: string) => `"at":${Number(at) - ms}`);
    await writeFile(path, aged);
  }
  for (const name of await readdir(folder)) {
    const at = Number(name.split('.').at(-1));
    if (at > 0) await rename(join(folder, name), join(folder, name.replace(/\d+$/, String(at - ms))));
  }
}
