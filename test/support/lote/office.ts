import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { readInstallation, type Installation } from '../../../src/runtime/config/installation.ts';
import type { Config, UseOfService } from '../../../src/runtime/config/config.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { startDistributedReceiver } from '../../../src/wiring/start/distributed-receiver.ts';
import { startDistributedWorker } from '../../../src/wiring/start/distributed-worker.ts';
import { connectClient } from '../../../src/wiring/temporal/connect-client.ts';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import { openPostgresLedger } from '../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import { postgresDatabase } from '../servers/postgres-database.ts';
import { startEmbedded } from '../../../src/wiring/start/embedded.ts';
import type { Stack } from '../../../src/wiring/start/embedded-stack.ts';
import { startBatch, type BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';
import { startedParts } from '../../../src/wiring/start/stop-in-reverse.ts';
import { batchFile, ownName, type TestInvoice } from '../files/batch-file.ts';
import { ownPort } from '../servers/own-port.ts';
import { independentSandbox } from '../servers/sandbox-books.ts';
import { startServiceFront, type FrontRequest, type ServiceFront } from '../servers/service-front.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';

/** One client of the office, as the test calls it; `name` is its application's. */
export interface OfficeClient {
  readonly name: string;
  readonly key: string;
  readonly config: Config;
  /** Writes a file into the client's input folder. */
  drop(file: string, invoices: readonly TestInvoice[]): Promise<void>;
  start(file: string): Promise<{ readonly batchId: string; readonly handle: BatchHandle }>;
  /** Requests with the client's key that asked to create an invoice. */
  posts(): readonly FrontRequest[];
}

/** What the test reads and asks. */
export type OfficeStack = Pick<Stack, 'client' | 'ledger' | 'metricsUrl'>;

/** An accountant's office: several applications in one Lote, each with a key of its own at one real sandbox. */
export interface Office {
  readonly stack: OfficeStack;
  readonly front: ServiceFront;
  readonly sandbox: Sandbox;
  readonly receiverUrl: string;
  /** Of the process that sends; null: nowhere. */
  readonly metricsUrl: string | null;
  /** Reads the files of the office again. */
  readonly installation: (use?: UseOfService) => Installation;
  /** Where the files of the applications lie. */
  readonly directory: string;
  readonly log: readonly string[];
  client(name: string): OfficeClient;
}

export interface OfficeOptions {
  /** More fields of an application's file, by client. */
  readonly files?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Before the start, in the working directory of the office; `nameOf` is the application of a client. */
  readonly before?: (directory: string, nameOf: (client: string) => string) => Promise<void>;
  readonly sandbox?: Partial<SandboxOptions>;
  /** Address of a PostgreSQL server, for a worker and a receiver of their own; left out: everything in one process. */
  readonly postgres?: string;
}

/** Opens an office for these clients, hands it to the test, and leaves nothing behind. */
export async function withOffice(
  clients: readonly string[],
  options: OfficeOptions,
  test: (office: Office) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-office-'));
  const log: string[] = [];
  const logger = createLogger({ level: 'warn', secrets: [], destination: { write: (line) => void log.push(line) } });
  const parts = startedParts(logger);
  parts.add('directory', () => rm(directory, { recursive: true, force: true }));
  try {
    // Ids of workflows and schedules begin with the name, on a Temporal server that other tests share.
    const names = new Map(clients.map((client) => [client, ownName(client)]));
    const sandbox = await independentSandbox({ settleMs: 20, ...options.sandbox, apiKeys: clients.map(keyOf) });
    parts.add('sandbox', () => sandbox.close());
    const front = await startServiceFront(sandbox.url);
    parts.add('front', () => front.close());
    for (const [client, name] of names) await writeClient(directory, client, { name, ...options.files?.[client] });
    await options.before?.(directory, (client) => names.get(client) ?? '');
    const port = await ownPort();
    const env = { ...envOf(front.url, port), ...(await databaseOf(options, parts)), ...options.env };
    const installation = readInstallation(env, directory);
    const stack = await (options.postgres === undefined ? embedded : distributed)(installation, { parts, log: logger });
    await test({
      ...{ stack, front, sandbox, log },
      receiverUrl: `http://127.0.0.1:${port}/webhooks`,
      metricsUrl: stack.metricsUrl,
      installation: (use) => readInstallation(env, directory, use),
      directory,
      client: (client) => {
        const config = installation.applications.find(({ application }) => application === names.get(client));
        if (config === undefined) throw new Error(`The office has no client ${client}`);
        return clientOf(config, { key: keyOf(client), stack, front });
      },
    });
  } finally {
    await parts.stop();
  }
}

interface Starting {
  readonly parts: ReturnType<typeof startedParts>;
  readonly log: ReturnType<typeof createLogger>;
}

/** As `lote up`. */
async function embedded({ common, applications }: Installation, { parts, log }: Starting): Promise<OfficeStack> {
  const stack = await startEmbedded({
    ...{ config: common, applications, log, env: {}, notify: () => undefined },
    beforeHandOver: () => Promise.resolve(),
  });
  if (stack === null) throw new Error('Another process owns the data directory of the test');
  parts.add('stack', () => stack.stop());
  return stack;
}

/** As `lote worker` and `lote receiver`. */
async function distributed(installation: Installation, { parts, log }: Starting): Promise<OfficeStack> {
  const { temporal, databaseUrl } = installation.common;
  const worker = await startDistributedWorker(installation, log);
  parts.add('worker', () => worker.stop());
  const receiver = await startDistributedReceiver(installation, log);
  parts.add('receiver', () => receiver.stop());
  const client = await connectClient({ address: temporal.address ?? '' }, temporal.namespace);
  parts.add('client', () => client.connection.close());
  const ledger = await openPostgresLedger({ connectionString: databaseUrl ?? '', keyOf: idempotencyKeyOf });
  parts.add('ledger', () => ledger.close());
  return { client, ledger, metricsUrl: worker.metricsUrl };
}

async function databaseOf(
  { postgres }: OfficeOptions,
  parts: Starting['parts'],
): Promise<Readonly<Record<string, string>>> {
  if (postgres === undefined) return {};
  const database = await postgresDatabase(postgres);
  parts.add('database', () => database.drop());
  return { DATABASE_URL: database.url, HEALTH_PORT: 'none' };
}

function keyOf(client: string): string {
  return `sk_test_${client}`;
}

async function writeClient(
  directory: string,
  client: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  await mkdir(join(directory, 'applications'), { recursive: true });
  await writeFile(join(directory, `${client}.key`), `${keyOf(client)}\n`);
  const file = { apiKeyFile: join(directory, `${client}.key`), inputDir: join('clients', client), ...fields };
  await writeFile(join(directory, 'applications', `${client}.json`), JSON.stringify(file));
}

function envOf(serviceUrl: string, port: number): Record<string, string> {
  return {
    INVOICING_BASE_URL: serviceUrl,
    WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
    RECEIVER_PORT: String(port),
    CONSOLE_PORT: '0',
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    LOTE_TASK_QUEUE: ownName('office'),
    LOTE_DATA_DIR: 'data',
    LOTE_REPORTS_DIR: 'reports',
    LOTE_LOG_LEVEL: 'warn',
    LOTE_SETTLE_TIMEOUT: '10m',
    LOTE_DROP_STABLE_FOR: '1ms',
  };
}

function clientOf(
  config: Config,
  { key, stack, front }: { readonly key: string; readonly stack: OfficeStack; readonly front: ServiceFront },
): OfficeClient {
  return {
    ...{ name: config.application, key, config },
    drop: (file, invoices) => writeFile(join(config.inputDir, file), batchFile(invoices)),
    start: (file) => startBatch({ ...config, client: stack.client }, { file, ledgerId: stack.ledger.id }),
    posts: () =>
      front.requests.filter(
        ({ method, path, authorization }) =>
          method === 'POST' && path === '/v1/invoices' && authorization === `Bearer ${key}`,
      ),
  };
}
