import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { inject, onTestFinished } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { startBatch, type BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';
import { ownName } from '../files/batch-file.ts';
import { writeInvoiceFile } from '../files/invoice-file.ts';
import { newPlace, type Place, type RunningCommand } from './lote-command.ts';
import { ownPort } from '../servers/own-port.ts';
import { postgresDatabase, type PostgresDatabase } from '../servers/postgres-database.ts';
import { processes, type Processes } from './processes.ts';
import { independentSandbox, SANDBOX_KEY } from '../servers/sandbox-books.ts';
import { startServiceFront, type ServiceFront } from '../servers/service-front.ts';

export interface FleetOptions {
  readonly workers: number;
  readonly sandbox?: Partial<SandboxOptions>;
  /** Merged over the default service profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The server of the ledger; default: that of the test run. */
  readonly postgresUrl?: string;
}

/** Several `lote worker` processes and a receiver on one PostgreSQL ledger, in front of a sandbox that outlives them. */
export interface WorkerFleet {
  readonly place: Place;
  readonly database: PostgresDatabase;
  readonly sandbox: Sandbox;
  readonly front: ServiceFront;
  readonly workers: readonly RunningCommand[];
  readonly receiver: RunningCommand;
  readonly all: Processes;
  readonly client: Client;
  /** Starts one worker more, of this build when a command line is given; it need not come up. */
  startWorker(command?: string): RunningCommand;
  /** Writes a file of so many invoices into the input folder and starts its batch; files of two series share no invoice. */
  startFile(name: string, invoices: number, series?: string): Promise<BatchHandle>;
  /** Starts the batch of a file that is in the input folder. */
  startDropped(name: string): Promise<BatchHandle>;
  /** When each POST of an invoice began, in the order of arrival. */
  postTimes(): readonly number[];
}

/** Starts a fleet, hands it to the test, and leaves nothing behind, also of a test whose time is over, which never comes to its `finally`. */
export async function withFleet(options: FleetOptions, test: (fleet: WorkerFleet) => Promise<void>): Promise<void> {
  const fleet = await startFleet(options, onTestFinished);
  try {
    await test(fleet);
  } finally {
    await fleet.remove();
  }
}

type Remove = () => Promise<void>;

/** A fleet for several tests; `remove`, which `atEnd` gets before anything is started, ends its processes and leaves nothing behind. */
export async function startFleet(
  options: FleetOptions,
  atEnd: (remove: Remove) => void = () => undefined,
): Promise<WorkerFleet & { readonly remove: Remove }> {
  const place = await newPlace();
  const database = await postgresDatabase(options.postgresUrl ?? inject('postgresUrl') ?? '');
  const sandbox = await independentSandbox({ settleMs: 20, ...options.sandbox });
  const front = await startServiceFront(sandbox.url);
  const all = processes();
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  let removing: Promise<void> | undefined;
  const remove: Remove = () => (removing ??= removeAll());
  const removeAll: Remove = async () => {
    await all.killAll();
    await connection.close();
    await database.drop();
    await front.close();
    await sandbox.close();
    await place.remove();
  };
  atEnd(remove);
  try {
    await mkdir(place.inputDir, { recursive: true });
    const profile = join(place.directory, 'profile.json');
    await writeFile(profile, JSON.stringify(options.profile ?? {}));
    const port = await ownPort();
    const taskQueue = `lote-${randomBytes(4).toString('hex')}`;
    // The id of a batch comes from it and the bytes: a file of the same name and bytes in another test is another batch.
    const application = ownName('fleet');
    const env = {
      ...place.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: address,
      LOTE_TASK_QUEUE: taskQueue,
      LOTE_APPLICATION: application,
      INVOICING_BASE_URL: front.url,
      INVOICING_API_KEY: SANDBOX_KEY,
      SERVICE_PROFILE: profile,
      RECEIVER_PORT: String(port),
      WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
      ...options.env,
    };
    const receiver = all.start(['receiver'], env);
    const workers = Array.from({ length: options.workers }, () => all.start(['worker'], env));
    await Promise.all([
      receiver.said('Receiver http'),
      ...workers.map((worker) => worker.said('Worker on task queue')),
    ]);
    const client = new Client({ connection });
    const startDropped = async (file: string): Promise<BatchHandle> => {
      const started = { client, taskQueue, application, inputDir: place.inputDir };
      return (await startBatch(started, { file })).handle;
    };
    return {
      startDropped,
      ...{ place, database, sandbox, front, workers, receiver, all, client, remove },
      startWorker: (command) => all.start(['worker'], env, command),
      async startFile(name, invoices, series = 'F') {
        await writeInvoiceFile(join(place.inputDir, name), { invoices, series });
        return startDropped(name);
      },
      postTimes: () =>
        front.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/invoices').map(({ at }) => at),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
