import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { inject } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { BatchInvoice } from '../../../src/domain/ports/ledger/batch-record.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import { openPgliteLedger } from '../../../src/ledger/database/pglite/open-pglite-ledger.ts';
import { openPostgresLedger } from '../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import { latestClock } from '../../../src/domain/time/steady-clock.ts';
import { readConfig, type Config } from '../../../src/runtime/config/config.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import type { DeliveryCounts } from '../../../src/webhooks/delivery-tally.ts';
import { openAnswerWatch } from '../../../src/wiring/profile-fit/open-answer-watch.ts';
import { activityDeps } from '../../../src/wiring/worker/activity-deps.ts';
import { startBatch, type BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';
import { requireKnownService } from '../../../src/wiring/account/account-guard.ts';
import { openService } from '../../../src/wiring/account/open-service.ts';
import { readProfile } from '../../../src/wiring/account/read-profiles.ts';
import { startReceiver } from '../../../src/wiring/receiver/start-receiver.ts';
import { startWorker, type RunningWorker } from '../../../src/wiring/worker/start-worker.ts';
import { startedParts } from '../../../src/wiring/start/stop-in-reverse.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import type { BatchInput, BatchProgress, BatchResult, ReconciliationResult } from '../../../src/contract/messages.ts';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import { batchFile, ownName, type TestInvoice } from '../files/batch-file.ts';
import { postgresSchema, postgresUrl } from '../servers/postgres-schema.ts';
import { independentSandbox, SANDBOX_KEY } from '../servers/sandbox-books.ts';
import { startServiceFront, type FrontRequest, type ServiceFront } from '../servers/service-front.ts';
import { LEDGER_TEMPLATES, temporaryLedger } from '../servers/temporary-database.ts';
import { shareCallContext, sharedConnection } from './shared-connection.ts';
import { shareWorkflowThread } from './shared-workflow-thread.ts';

shareWorkflowThread(inject('workflowBundle'));
shareCallContext();

export interface StackOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  /** LOTE_* settings; times are long unless told. */
  readonly env?: Readonly<Record<string, string>>;
  /** `none`: no address is registered, so GET alone settles. Default: deliveries come. */
  readonly webhooks?: 'on' | 'none';
  /** `lost`: the receiver stores deliveries and no page ever hears of them. */
  readonly signals?: 'on' | 'lost';
  /** Merged over the default service profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
  /** A service of the test's own, in place of sandbox and front. */
  readonly service?: { readonly url: string; readonly key: string };
  /** Port of the receiver; left out: any that is free. */
  readonly receiverPort?: number;
  /** `false`: as on a server that has no search attributes of ours. */
  readonly searchable?: boolean;
  /** Default: PostgreSQL where the machine has it (a schema is made in a moment), else PGlite. */
  readonly ledger?: 'pglite' | 'postgres';
  /** A PostgreSQL server of the test's own, which it may stop, fill or make read-only. */
  readonly databaseUrl?: string;
  /** An embedded ledger on a disk of the test's own. */
  readonly ledgerDir?: string;
}

/** Everything a night has, in one process, around the run's one Temporal server. */
export interface TestStack {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly sandbox: Sandbox;
  readonly front: ServiceFront;
  readonly client: Client;
  readonly log: readonly string[];
  readonly webhookUrl: string;
  /** What became of the deliveries that the receiver got. */
  deliveries(): DeliveryCounts;
  /** Writes a file into the input directory. */
  drop(name: string, content: readonly TestInvoice[] | string): Promise<void>;
  start(input: BatchInput): Promise<{ readonly batchId: string; readonly handle: BatchHandle }>;
  /** Drops, starts, waits for the end. */
  run(name: string, content: readonly TestInvoice[] | string, over?: Partial<BatchInput>): Promise<BatchResult>;
  lines(batchId: string): Promise<readonly BatchInvoice[]>;
  line(batchId: string, ref: string): Promise<BatchInvoice>;
  /** Starts the same file under another workflow id, as from the Temporal UI. */
  startAs(workflowId: string, input: BatchInput | null): Promise<BatchHandle>;
  progress(handle: BatchHandle): Promise<BatchProgress>;
  /** Repeats unknown invoices and asks for open documents, whether they are due or not; rewrites the reports that change. */
  reconcile(): Promise<ReconciliationResult>;
  /** Stops the worker, and starts one with the workflow bundle at this path; left out: with that of all tests. */
  deploy(workflowBundle?: string): Promise<void>;
  /** Requests that asked the service to create an invoice. */
  posts(): readonly FrontRequest[];
}

/** Nobody listens there: for links only. */
export const CONSOLE_URL = 'http://127.0.0.1:8091';

/** Long enough that no machine is too slow for them; a test that waits for one of them sets its own. */
const TIMES = {
  LOTE_SETTLE_TIMEOUT: '10m',
  LOTE_SEND_TIMEOUT: '10m',
  LOTE_OUTAGE_PATIENCE: '10m',
  LOTE_PAGE_SIZE: '50',
  LOTE_LOG_LEVEL: 'warn',
};

/** Starts a stack of its own, hands it to the test, and leaves nothing behind. */
export async function withStack<T>(options: StackOptions, test: (stack: TestStack) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-stack-'));
  const log: string[] = [];
  const logger = createLogger({ level: 'warn', secrets: [], destination: { write: (line) => void log.push(line) } });
  const parts = startedParts(logger);
  parts.add('directory', () => rm(directory, { recursive: true, force: true }));
  try {
    const { sandbox, front, service: place } = await openTestService(options, parts);
    const config = configOf(options, directory, place);
    await mkdir(config.inputDir, { recursive: true });
    await writeFile(join(directory, 'profile.json'), JSON.stringify(options.profile ?? {}));
    const ledger = await openTestLedger(options, parts);
    const profile = readProfile(config);
    if (config.service.kind !== 'remote') throw new Error('The stack must talk to the front');
    const { application, service: account } = config;
    const service = openService(config, account, profile);
    parts.add('service', () => service.close());
    const address = inject('temporalAddress');
    const { connection, release } = await sharedConnection(address);
    parts.add('temporal client', release);
    const client = new Client({ connection, namespace: config.temporal.namespace });

    const expectsEvents = options.webhooks !== 'none';
    const watch = openAnswerWatch({ config, ledger, service, profile, expectsEvents, log: logger });
    const receiver = await startReceiver({
      config,
      port: options.receiverPort ?? 0,
      ledger,
      service,
      profile,
      watch,
      client: () => {
        if (options.signals === 'lost') throw new Error('The test loses every signal');
        return client;
      },
      log: logger,
    });
    parts.add('receiver', () => receiver.close());
    const webhookUrl = options.webhooks === 'none' ? null : receiver.url;
    const deps = activityDeps({
      folders: null,
      ...{ config, ledger, service, profile, watch, client, webhookUrl, log: logger },
      requireAccount: () =>
        requireKnownService({ ledger, application, isOneOfSeveral: false, account, profile, now: Date.now() }),
      latestNow: latestClock(),
      searchable: options.searchable ?? true,
      consoleUrl: () => CONSOLE_URL,
    });
    const workerWith = (workflowBundle: string): Promise<RunningWorker> =>
      startWorker(deps, {
        profile: null,
        temporal: { address },
        namespace: config.temporal.namespace,
        taskQueue: config.taskQueue,
        workflowBundle,
      });
    let worker = await workerWith(inject('workflowBundle'));
    parts.add('worker', () => worker.stop());
    const deploy = async (workflowBundle = inject('workflowBundle')): Promise<void> => {
      await worker.stop();
      worker = await workerWith(workflowBundle);
    };
    return await test(
      stackOf({
        config,
        ledger,
        sandbox,
        front,
        client,
        log,
        deploy,
        webhookUrl: receiver.url,
        deliveries: () => receiver.tally(),
      }),
    );
  } finally {
    await parts.stop();
  }
}

type Parts = ReturnType<typeof startedParts>;

/** The sandbox with a front before it, or what the test brings along. */
async function openTestService(options: StackOptions, parts: Parts) {
  if (options.service !== undefined)
    return { sandbox: absent<Sandbox>('sandbox'), front: absent<ServiceFront>('front'), service: options.service };
  const sandbox = await independentSandbox({ settleMs: 20, ...options.sandbox });
  parts.add('sandbox', () => sandbox.close());
  const front = await startServiceFront(sandbox.url);
  parts.add('front', () => front.close());
  return { sandbox, front, service: { url: front.url, key: SANDBOX_KEY } };
}

/** A test that brings its own service and asks for this part is wrong. */
function absent<T extends object>(part: string): T {
  const get = (): never => {
    throw new Error(`A stack with a service of the test's own has no ${part}`);
  };
  return new Proxy({} as T, { get });
}

function configOf(
  options: StackOptions,
  directory: string,
  service: { readonly url: string; readonly key: string },
): Config {
  const name = ownName('t');
  return readConfig(
    {
      ...TIMES,
      INVOICING_BASE_URL: service.url,
      INVOICING_API_KEY: service.key,
      LOTE_APPLICATION: name,
      LOTE_TASK_QUEUE: `lote-${name}`,
      SERVICE_PROFILE: join(directory, 'profile.json'),
      LOTE_DATA_DIR: join(directory, 'data'),
      LOTE_INPUT_DIR: join(directory, 'input'),
      LOTE_REPORTS_DIR: join(directory, 'reports'),
      ...options.env,
    },
    directory,
  );
}

async function openTestLedger(options: StackOptions, parts: Parts): Promise<Ledger> {
  const { databaseUrl, ledgerDir: directory } = options;
  if (databaseUrl !== undefined || directory !== undefined) {
    const ledger =
      directory === undefined
        ? await openPostgresLedger({ connectionString: databaseUrl ?? '', keyOf: idempotencyKeyOf })
        : await openPgliteLedger({ directory, templates: LEDGER_TEMPLATES, keyOf: idempotencyKeyOf });
    parts.add('ledger', () => ledger.close());
    return ledger;
  }
  const url = postgresUrl();
  if (options.ledger === 'pglite' || url === null) {
    const ledger = await temporaryLedger();
    parts.add('ledger', () => ledger.close());
    return ledger;
  }
  const schema = postgresSchema(url);
  parts.add('schema', () => schema.drop());
  const ledger = await openPostgresLedger({ ...schema, keyOf: idempotencyKeyOf });
  parts.add('ledger', () => ledger.close());
  return ledger;
}

type Started = Pick<
  TestStack,
  'config' | 'ledger' | 'sandbox' | 'front' | 'client' | 'log' | 'deploy' | 'webhookUrl' | 'deliveries'
>;

function stackOf(started: Started): TestStack {
  const { config, ledger, client } = started;
  const place = { client, taskQueue: config.taskQueue, application: config.application, inputDir: config.inputDir };
  const stack: TestStack = {
    ...started,
    drop: (name, content) =>
      writeFile(join(config.inputDir, name), typeof content === 'string' ? content : batchFile(content)),
    start: (input) => startBatch(place, input),
    async run(name, content, over = {}) {
      await stack.drop(name, content);
      const { handle } = await stack.start({ file: name, ...over });
      return handle.result();
    },
    async lines(batchId) {
      const lines: BatchInvoice[] = [];
      for await (const portion of ledger.batchInvoices(batchId)) lines.push(...portion);
      return lines;
    },
    async line(batchId, ref) {
      const found = (await stack.lines(batchId)).find((line) => line.ref === ref);
      if (found === undefined) throw new Error(`The batch has no invoice ${ref}`);
      return found;
    },
    startAs: (workflowId, input) =>
      client.workflow.start<typeof invoiceBatch>('invoiceBatch', {
        workflowId,
        taskQueue: config.taskQueue,
        // The Temporal UI sends what an operator typed, which may be nothing.
        args: [input as BatchInput],
      }),
    progress: (handle) => handle.query<BatchProgress>('progress'),
    reconcile: () =>
      client.workflow.execute<typeof reconciliation>('reconciliation', {
        workflowId: ownName('reconciliation'),
        taskQueue: config.taskQueue,
        args: [{ all: true }],
      }),
    posts: () => started.front.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/invoices'),
  };
  return stack;
}

export interface ReportDocument {
  readonly batch: { readonly state: string };
  readonly counts: Readonly<Record<string, number>>;
  readonly invoices: readonly {
    readonly ref: string;
    readonly state: string;
    readonly serviceId: string | null;
    readonly idempotencyKey: string | null;
    readonly reason: { readonly code: string; readonly message: string } | null;
    readonly findings?: unknown;
  }[];
  readonly fileFindings: readonly { readonly code: string; readonly message: string }[];
}

export async function readReportOf(result: BatchResult): Promise<ReportDocument> {
  return JSON.parse(await readFile(result.reports.json, 'utf8')) as ReportDocument;
}
