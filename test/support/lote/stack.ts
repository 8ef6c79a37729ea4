import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, WorkflowNotFoundError, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { expect, inject } from 'vitest';
import { latestClock } from '../../../src/domain/time/steady-clock.ts';
import { createLogger } from '../../../src/app/process/logger.ts';
import { NO_TELEMETRY } from '../../../src/health/telemetry.ts';
import { activityDeps } from '../../../src/app/worker/activity-deps.ts';
import { startBatch, type BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { openSendingGuard } from '../../../src/app/account/sending-guard.ts';
import { requireKnownService } from '../../../src/app/account/account-guard.ts';
import { openService } from '../../../src/app/account/open-service.ts';
import { readProfile } from '../../../src/app/account/read-profile.ts';
import { startReceiver } from '../../../src/app/receiver/start-receiver.ts';
import { restartLeftRuns } from '../../../src/app/temporal/left-runs.ts';
import { startWorker, type RunningWorker } from '../../../src/app/worker/start-worker.ts';
import { startedParts } from '../../../src/app/start/stop-in-reverse.ts';
import type { NightMessageNote, NightlyRunEntry } from '../../../src/domain/records/night.ts';
import type { NightlyInput, nightlyIssuance, NightlyResult } from '../../../workflows/nightly-issuance.ts';
import type { retryInvoices } from '../../../workflows/retry-invoices.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import type {
  BatchInput,
  BatchProgress,
  BatchResult,
  RetryInput,
  ReasonInput,
} from '../../../src/domain/messages/messages.ts';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import { batchFile, ownName, type TestInvoice } from '../files/batch-file.ts';
import { isInvoice } from '../servers/service-front.ts';
import { shareCallContext, sharedConnection, shareWorkflowThread } from './shared-connection.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';
import { openCalibration } from '../../../src/app/start/open-application.ts';
import { Worker } from '@temporalio/worker';
import { shared } from '../lifetime.ts';
import { until } from '../until.ts';
import { type Parts, type StackOptions, openTestService, configOf, openTestLedger, prove } from './stack-parts.ts';

shareWorkflowThread(inject('workflowBundle'));
shareCallContext();

/** All parts of a night in one process, on the Temporal server of the test run. */
export type TestStack = Awaited<ReturnType<typeof openStack>>;

/** An address for links only: no process listens there. */
export const CONSOLE_URL = 'http://127.0.0.1:8091';

/** Starts a separate stack, runs the test with it, and removes it. */
export async function withStack<T>(options: StackOptions, test: (stack: TestStack) => Promise<T>): Promise<T> {
  const stack = await openStack(options);
  try {
    return await test(stack);
  } finally {
    await stack.remove();
  }
}

/** Starts one stack for all tests of the calling `describe`. No test may leave data that another test would see. */
export function sharedStack(options: StackOptions = {}): () => TestStack {
  const stack = shared(() => openStack(options));
  return () => stack;
}

async function openStack(options: StackOptions) {
  const log: string[] = [];
  const logger = createLogger({ level: 'warn', secrets: [], destination: { write: (line) => void log.push(line) } });
  const parts = startedParts(logger);
  try {
    return { ...stackOf({ ...(await startParts(options, parts, logger)), log }), remove: () => parts.stop() };
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

type Started = Awaited<ReturnType<typeof startParts>> & { readonly log: readonly string[] };

async function startParts(options: StackOptions, parts: Parts, log: ReturnType<typeof createLogger>) {
  const directory = await mkdtemp(join(tmpdir(), 'lote-stack-'));
  parts.add('directory', () => rm(directory, { recursive: true, force: true }));
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
  if (options.isProved !== false) await prove(ledger, config, profile);
  const calibration = openCalibration({ config, ledger, service, profile, log }, expectsEvents);
  const common = { config, ledger, service, profile, calibration, log, telemetry: NO_TELEMETRY };
  const receiver = await startReceiver({
    ...{ ...common, port: options.receiverPort ?? 0 },
    client: () => {
      if (options.signals === 'lost') throw new Error('The test loses every signal');
      return client;
    },
  });
  parts.add('receiver', () => receiver.close());
  const deps = activityDeps({
    ...{ ...common, folders: null, client, webhookUrl: expectsEvents ? receiver.url : null },
    noteSends: async (sends) =>
      options.sendLog === true ? openSendingGuard(config, { ledger })?.note(sends) : undefined,
    requireAccount: () => requireKnownService({ ledger, application, account, profile, now: Date.now() }),
    latestNow: latestClock(),
    searchable: options.searchable ?? true,
    consoleUrl: () => CONSOLE_URL,
  });
  const { taskQueue, temporal } = config;
  const workerWith = (workflowBundle: string): Promise<RunningWorker> =>
    startWorker(deps, { temporal: { address }, namespace: temporal.namespace, taskQueue, workflowBundle });
  let worker = await workerWith(inject('workflowBundle'));
  parts.add('worker', () => worker.stop());
  return {
    ...{ config, ledger, sandbox, front, client, webhookUrl: receiver.url },
    /** The counts of the receiver's deliveries by result. */
    deliveries: () => receiver.tally(),
    /** Restarts the worker with the bundle at this path, as an embedded start does. Default: the bundle of all tests. */
    async deploy(workflowBundle = inject('workflowBundle')) {
      await worker.stop();
      worker = await workerWith(workflowBundle);
      await restartLeftRuns({ ...config, client, ledger, log }, { onlyWorker: worker.queue });
    },
  };
}

function stackOf(started: Started) {
  const { config, ledger, client, front } = started;
  const { taskQueue, application, inputDir } = config;
  /** Writes a file into the input directory. */
  const drop = (name: string, content: readonly TestInvoice[] | string) =>
    writeFile(join(inputDir, name), typeof content === 'string' ? content : batchFile(content));
  const start = (input: BatchInput) => startBatch({ client, taskQueue, application, inputDir }, input);
  /** Writes a file and starts its batch. */
  const begin = async (name: string, content: readonly TestInvoice[] | string, over: Partial<BatchInput> = {}) => {
    await drop(name, content);
    return start({ file: name, ...over });
  };
  const lines = async (batchId: string) => {
    const all: BatchInvoice[] = [];
    for await (const portion of ledger.batchInvoices(batchId)) all.push(...portion);
    return all;
  };
  return {
    ...{ ...started, drop, start, lines },
    begin,
    /** Writes a file, starts its batch and waits for its end. */
    async run(name: string, content: readonly TestInvoice[] | string, over: Partial<BatchInput> = {}) {
      const { handle } = await begin(name, content, over);
      return handle.result();
    },
    async line(batchId: string, ref: string) {
      const found = (await lines(batchId)).find((line) => line.ref === ref);
      if (found === undefined) throw new Error(`The batch has no invoice ${ref}`);
      return found;
    },
    /** Starts a batch under another workflow id, as from the Temporal UI, which may send a null input. */
    startAs: (workflowId: string, input: BatchInput | null): Promise<BatchHandle> =>
      client.workflow.start<typeof invoiceBatch>('invoiceBatch', {
        workflowId,
        taskQueue,
        args: [input as BatchInput],
      }),
    progress: (handle: BatchHandle) => handle.query<BatchProgress>('progress'),
    /** Repeats unknown invoices, asks for open documents (all of them, or the due ones) and rewrites changed reports. */
    reconcile: (which = { all: true }) =>
      client.workflow.execute<typeof reconciliation>('reconciliation', {
        ...{ workflowId: ownName('reconciliation'), taskQueue, args: [which] },
      }),
    /** The requests to create an invoice. */
    posts: () => front.requests.filter(isInvoice),
  };
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

/** Replays a history. Rejects if the workflows of the tests cannot continue it. */
export async function replayHistory(history: unknown, workflowId: string): Promise<void> {
  const bundle = await readFile(inject('workflowBundle'), 'utf8');
  // The code starts after the name of its build, because a replay has its own task queue.
  const code = bundle.slice(bundle.indexOf(';') + 1);
  await Worker.runReplayHistory({ workflowBundle: { code } }, history, workflowId);
}

/** Replays the history of a workflow. Rejects if a worker that starts later cannot continue it. */
export async function replay({ client }: TestStack, workflowId: string): Promise<void> {
  await replayHistory(await client.workflow.getHandle(workflowId).fetchHistory(), workflowId);
}

/** Removes a run, as Temporal does after its retention or an operator in the UI. Waits until the run is gone. */
export async function removeRun(client: Client, workflowId: string, runId: string): Promise<void> {
  const { namespace } = client.options;
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
  const run = client.workflow.getHandle(workflowId, runId);
  await until(async () => {
    try {
      await run.describe();
      return false;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return true;
      throw error;
    }
  });
}

/** The states in the service's books that agree with each state of a report. */
const PROMISES: Readonly<Record<string, readonly string[]>> = {
  issued: ['issued'],
  'already-issued': ['issued'],
  failed: ['failed'],
  rejected: ['none'],
  held: ['none'],
  staged: ['none'],
  sending: ['none', 'processing', 'issued', 'failed'],
  unknown: ['none', 'processing', 'issued', 'failed'],
  accepted: ['processing', 'issued', 'failed'],
  unsettled: ['processing', 'issued', 'failed'],
};

/**
 * Expects that the service's books have no invoice twice and no invoice that the ledger does not know, and that they
 * contradict no state of the ledger.
 */
export async function expectAgreement(stack: TestStack, ...batchIds: readonly string[]): Promise<void> {
  const books = stack.sandbox.books();
  expect(books.duplicates, 'invoices that the books show twice').toEqual([]);
  const byKey = new Map(books.invoices.map((invoice) => [invoice.idempotencyKey, invoice]));
  const known = new Set<string | null>();
  const contradictions: string[] = [];
  for (const batchId of batchIds) {
    for (const line of await stack.lines(batchId)) {
      known.add(line.idempotencyKey);
      const allowed = PROMISES[line.state];
      if (allowed === undefined) continue;
      const booked = byKey.get(line.idempotencyKey);
      const found = booked?.status ?? 'none';
      if (!allowed.includes(found)) contradictions.push(`${line.ref}: ledger ${line.state}, books ${found}`);
      if (booked !== undefined && line.serviceId !== null && line.serviceId !== booked.id)
        contradictions.push(`${line.ref}: ledger ${line.serviceId}, books ${booked.id}`);
    }
  }
  expect(contradictions, 'what ledger and books say of one invoice').toEqual([]);
  const strangers = books.invoices.filter(({ idempotencyKey }) => !known.has(idempotencyKey));
  expect(strangers, 'invoices of the books that the ledger does not know').toEqual([]);
}

/** Expects that each key went with one body. Returns the number of keys. */
export function expectFrozenBytes(stack: TestStack): number {
  const bodies = new Map<string | null, Set<string>>();
  for (const { key, body } of stack.posts()) bodies.set(key, (bodies.get(key) ?? new Set()).add(body));
  expect([...bodies.values()].filter(({ size }) => size > 1)).toEqual([]);
  return bodies.size;
}

/** Starts a night as the schedule does. The Temporal UI sends a null input if the operator types none. */
export function startNight(
  { client, config }: TestStack,
  workflowId = ownName('night'),
  input: NightlyInput | null = { timezone: 'UTC' },
): Promise<WorkflowHandleWithFirstExecutionRunId<typeof nightlyIssuance>> {
  return client.workflow.start<typeof nightlyIssuance>('nightlyIssuance', {
    ...{ workflowId, taskQueue: config.taskQueue, args: [input] },
  });
}

/** The part of a night's summary that tests read. */
export interface NightDocument {
  readonly schema: string;
  readonly totals: Readonly<Record<string, number>>;
  readonly runs: readonly {
    readonly night: string;
    readonly finishedAt: string | null;
    readonly files: readonly NightlyRunEntry[];
    readonly waiting: readonly { readonly name: string; readonly reason: string }[];
    readonly message: NightMessageNote | null;
  }[];
}

export async function nightOf({ reports }: NightlyResult): Promise<NightDocument> {
  return JSON.parse(await readFile(reports.json, 'utf8')) as NightDocument;
}

/** Returns the files of a night from the summary of its day. */
export async function filesOf(night: NightlyResult): Promise<readonly NightlyRunEntry[]> {
  return (await nightOf(night)).runs.find((run) => run.night === night.night)?.files ?? [];
}

/** Retries a batch whose run has ended, as an operator does. */
export function retry({ client, config }: TestStack, input: Partial<RetryInput>): Promise<BatchResult> {
  return client.workflow.execute<typeof retryInvoices>('retryInvoices', {
    ...{ workflowId: ownName('retry'), taskQueue: config.taskQueue, args: [input as RetryInput] },
  });
}

/** Pauses a batch, or cancels the rest of it. */
export function stop(
  handle: BatchHandle,
  update: 'pause' | 'cancelRemaining' = 'pause',
  input: Partial<ReasonInput> = {},
): Promise<string> {
  return handle.executeUpdate<string, [ReasonInput]>(update, { args: [{ reason: 'a look', ...input }] });
}
