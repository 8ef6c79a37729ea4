import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { acquireTemporalBinary } from '../../../src/app/temporal/temporal-binary.ts';
import { startTemporalServer, type TemporalServer } from '../../../src/app/temporal/temporal-server.ts';
import { startBatch, type BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { ownName, writeInvoiceFile, type InvoiceFile } from '../files/batch-file.ts';
import { ownPort } from '../servers/own-port.ts';
import { postgresDatabase, type PostgresDatabase } from '../servers/postgres-database.ts';
import { independentSandbox, SANDBOX_KEY, startServiceFront, type ServiceFront } from '../servers/service-front.ts';
import {
  newPlace,
  processes,
  runLote,
  type CommandEnd,
  type Place,
  type Processes,
  type RunningCommand,
} from './lote-command.ts';

/** What each process says when it is up. */
const UP = { worker: 'Worker on task queue', receiver: 'Receiver http', console: 'Console http' } as const;

export type Role = keyof typeof UP;

export interface FleetOptions {
  /** Processes that are up when the test begins; default: none. */
  readonly roles?: readonly Role[];
  readonly sandbox?: Partial<SandboxOptions>;
  /** Merged over the default service profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The servers of ledger and Temporal; default: those of the test run. */
  readonly postgresUrl?: string;
  readonly temporalAddress?: string;
  /** All of a file may go out at once, as after the first batches of an installation. */
  readonly isProved?: boolean;
  /** Default: where one of the roles receives webhooks. */
  readonly webhooks?: boolean;
}

/** The distributed form as processes: a database, a Temporal server and folders of its own, and a sandbox that outlives them and judges. */
export interface Fleet {
  readonly place: Place;
  readonly database: PostgresDatabase;
  readonly sandbox: Sandbox;
  /** Between Lote and the sandbox. */
  readonly front: ServiceFront;
  /** Of each role that was asked for, in that order. */
  readonly parts: readonly RunningCommand[];
  readonly all: Processes;
  /** A client of Temporal, which connects at its first call. */
  readonly client: Client;
  /** The environment of its processes, and of commands, which know no service. */
  readonly env: Readonly<Record<string, string>>;
  readonly clientEnv: Readonly<Record<string, string>>;
  /** Starts a process, of another build when its script is given; it need not come up. */
  start(role: Role, env?: Readonly<Record<string, string>>, command?: string): RunningCommand;
  /** Starts a process; resolves when it is up. */
  up(role: Role, env?: Readonly<Record<string, string>>, command?: string): Promise<RunningCommand>;
  /** Runs a command as a client. */
  run(...parameters: readonly string[]): Promise<CommandEnd>;
  /** Writes a file into the input folder; resolves to its path. */
  file(name: string, content: InvoiceFile): Promise<string>;
  /** Writes a file of so many invoices and starts its batch; files of two series share no invoice. */
  startFile(name: string, invoices: number, series?: string): Promise<BatchHandle>;
  /** Starts the batch of a file that is in the input folder. */
  startDropped(name: string): Promise<BatchHandle>;
  /** When each POST of an invoice began, in the order of arrival. */
  postTimes(): readonly number[];
  /** The books hold so many invoices, each of them issued and none of them twice. */
  expectIssued(invoices: number): void;
  remove(): Promise<void>;
}

export interface OwnTemporal {
  readonly server: TemporalServer;
  readonly dataDir: string;
  /** Starts it again on its file and ports after it was killed. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A Temporal server that a test may end or delete things of. */
export async function ownTemporal(): Promise<OwnTemporal> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lote-temporal-'));
  const binary = await acquireTemporalBinary(() => undefined, process.env);
  const server = await startTemporalServer({
    ...{ binary, dataDir, namespace: 'default', port: await ownPort(), uiPort: await ownPort() },
    notify: console.error,
  });
  return {
    ...{ server, dataDir },
    async restart() {
      // A server that did not come up (its ports are chosen while others start) is started again, as any supervisor does.
      while (!(await server.restart())) console.error('The Temporal server of a test did not come up: once more');
    },
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A fleet for one test, which leaves nothing behind, also when the time of the test is over. */
export function testFleet(options: FleetOptions = {}): Promise<Fleet> {
  return startFleet(options, onTestFinished);
}

/** A fleet for several tests, which must remove it. `atEnd` gets what removes it before anything is started. */
export async function startFleet(
  options: FleetOptions = {},
  atEnd: (remove: () => Promise<void>) => void = () => undefined,
): Promise<Fleet> {
  const [place, database, sandbox] = await Promise.all([
    newPlace(),
    postgresDatabase(options.postgresUrl ?? inject('postgresUrl') ?? ''),
    independentSandbox({ settleMs: 20, ...options.sandbox }),
  ]);
  const front = await startServiceFront(sandbox.url);
  const all = processes();
  const address = options.temporalAddress ?? inject('temporalAddress');
  const connection = Connection.lazy({ address });
  let removing: Promise<void> | undefined;
  const removeAll = async (): Promise<void> => {
    await all.killAll();
    await connection.close();
    await database.drop();
    await front.close();
    await sandbox.close();
    await place.remove();
  };
  const remove = (): Promise<void> => (removing ??= removeAll());
  atEnd(remove);
  await mkdir(place.inputDir, { recursive: true });
  const profile = join(place.directory, 'profile.json');
  const { limits, ...settings } = { limits: {}, ...options.profile };
  // Without webhooks only a GET tells the final words: it must come soon.
  const hasReceiver = options.webhooks ?? options.roles?.includes('receiver') === true;
  const polls = hasReceiver ? {} : { pollEverySeconds: 2 };
  await writeFile(profile, JSON.stringify({ ...settings, limits: { ...polls, ...(limits as object) } }));
  const port = await ownPort();
  const taskQueue = `lote-${randomBytes(4).toString('hex')}`;
  // The id of a batch comes from it and the bytes: a file of the same name and bytes in another test is another batch.
  const application = ownName('fleet');
  const clientEnv = {
    ...place.env,
    ...{ DATABASE_URL: database.url, TEMPORAL_ADDRESS: address },
    ...{ LOTE_TASK_QUEUE: taskQueue, LOTE_APPLICATION: application },
    ...options.env,
  };
  const env = {
    ...clientEnv,
    ...{ INVOICING_BASE_URL: front.url, INVOICING_API_KEY: SANDBOX_KEY, SERVICE_PROFILE: profile },
    RECEIVER_PORT: String(port),
    ...(hasReceiver && { WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks` }),
    LOTE_DROP_STABLE_FOR: '50ms',
    ...options.env,
  };
  if (options.isProved === true) await runLote(['confirm-service', '--profile'], env);
  const start: Fleet['start'] = (role, more, command) => all.start([role], { ...env, ...more }, command);
  const up: Fleet['up'] = async (role, more, command) => {
    const process = start(role, more, command);
    await process.said(UP[role]);
    return process;
  };
  const client = new Client({ connection });
  const file: Fleet['file'] = async (name, content) => {
    await writeInvoiceFile(join(place.inputDir, name), content);
    return join(place.inputDir, name);
  };
  const startDropped = async (name: string): Promise<BatchHandle> => {
    const started = { client, taskQueue, application, inputDir: place.inputDir };
    return (await startBatch(started, { file: name })).handle;
  };
  return {
    ...{ place, database, sandbox, front, all, client, env, clientEnv, start, up, file, startDropped, remove },
    parts: await Promise.all((options.roles ?? []).map((role) => up(role))),
    run: (...parameters) => all.start(parameters, clientEnv).end,
    async startFile(name, invoices, series = 'F') {
      await file(name, { invoices, series });
      return startDropped(name);
    },
    postTimes: () =>
      front.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/invoices').map(({ at }) => at),
    expectIssued(invoices) {
      const { duplicates, totals } = sandbox.books();
      expect(duplicates).toEqual([]);
      expect(totals).toMatchObject({ invoices, issued: invoices });
    },
  };
}
