import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { parse } from 'csv-parse';
import { readConfig } from '../../src/app/config/config.ts';
import { createLogger } from '../../src/app/process/logger.ts';
import { startBatch } from '../../src/app/temporal/batch-starter.ts';
import { startOwner } from '../../src/app/start/start-owner.ts';
import { watchEventLoop, type LoopDelay } from '../measures/event-loop-watch.ts';
import { mainThreadCpuMs, processTreeUsage } from '../measures/process-tree-usage.ts';
import { type Span, timelineOf } from '../measures/timeline.ts';
import { peakRssMb } from '../measures/peak-rss.ts';
import { givenInput, notify, untilLetGo } from './parent.ts';

export interface LoteInput {
  /** In the input directory. */
  readonly file: string;
  /** Of the PostgreSQL server; null: the embedded ledger, which is part of this process. */
  readonly databasePid: number | null;
  /** How long the process rests after the batch, to measure what it costs then; 0: not at all. */
  readonly restMs: number;
  /** Where the time of the batch went is told, too. */
  readonly timeline?: boolean;
}

/** CPU time by process in milliseconds, over one span. */
export interface SpanCpu {
  /** Of this process: worker, receiver, console, and the embedded ledger where there is one. */
  readonly cpuMs: number;
  readonly temporalCpuMs: number;
  /** Zero for the embedded ledger. */
  readonly databaseCpuMs: number;
  /** Of `cpuMs`, what one thread does: all of Lote's own work but workflows and the embedded ledger. */
  readonly mainThreadCpuMs: number;
}

export interface LoteRun extends SpanCpu {
  readonly startUpMs: number;
  /** From the start of the batch to its result: file to report. */
  readonly wallMs: number;
  /** From the first POST to the last, by the report. */
  readonly sendingMs: number;
  readonly historyEvents: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Of this process: worker, receiver, console, and the embedded ledger where there is one. */
  readonly peakRssMb: number;
  /** Of the main thread, from the start of the batch to its result. */
  /** Null beside a rest: the watch wakes the thread some hundred times a second, which would be in its share of a core. */
  readonly loop: LoopDelay | null;
  /** After the batch, with nothing to do; null when no rest was asked for. */
  readonly rest: (SpanCpu & { readonly wallMs: number }) | null;
  /** Left out: not asked for. */
  readonly timeline?: readonly Span[];
}

/** More often than Prometheus does by default (every minute), so that what a scrape costs is in the figures. */
const SCRAPE_MS = 5_000;

/** Between the batch and the rest: the batch's own processes and workflows end. */
const SETTLE_DOWN_MS = 5_000;

const { file, databasePid, restMs, timeline = false } = givenInput<LoteInput>();
const config = readConfig(process.env);
const log = createLogger({ level: config.logLevel, secrets: config.secrets });
const starting = performance.now();
const stack = await startOwner({
  config,
  log,
  notify: () => undefined,
  env: process.env,
  beforeHandOver: () => Promise.reject(new Error('Nobody hands work over to the bench')),
});
if (stack === null) throw new Error('The data directory of the bench must be its own');
const startUpMs = performance.now() - starting;

const { metricsUrl } = stack;
if (metricsUrl !== null) setInterval(() => void fetch(metricsUrl).then((answer) => answer.text()), SCRAPE_MS).unref();

const before = await cpuNow();
const loop = restMs === 0 ? watchEventLoop() : null;
const started = performance.now();
const { handle } = await startBatch({ client: stack.client, ...config }, { file, ledgerId: stack.ledger.id });
const result = await handle.result();
const wallMs = performance.now() - started;
const delay = loop?.stop() ?? null;
const cpu = since(before, await cpuNow());
const peakMb = peakRssMb();

notify({
  startUpMs,
  wallMs,
  sendingMs: await sendingTime(result.reports.csv),
  historyEvents: await historyEvents(stack.client, result.batchId),
  counts: result.counts,
  peakRssMb: peakMb,
  loop: delay,
  ...cpu,
  rest: restMs === 0 ? null : await resting(),
  ...(timeline && { timeline: await timelineOf(stack.client, result.batchId, result.reports.json) }),
} satisfies LoteRun);
await untilLetGo();
await stack.stop();

async function cpuNow(): Promise<SpanCpu> {
  const { user, system } = process.cpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    temporalCpuMs: (await processTreeUsage(process.pid)).cpuMs,
    databaseCpuMs: databasePid === null ? 0 : (await processTreeUsage(databasePid)).cpuMs,
    mainThreadCpuMs: mainThreadCpuMs(),
  };
}

function since(before: SpanCpu, after: SpanCpu): SpanCpu {
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    temporalCpuMs: after.temporalCpuMs - before.temporalCpuMs,
    databaseCpuMs: after.databaseCpuMs - before.databaseCpuMs,
    mainThreadCpuMs: after.mainThreadCpuMs - before.mainThreadCpuMs,
  };
}

async function resting(): Promise<NonNullable<LoteRun['rest']>> {
  await sleep(SETTLE_DOWN_MS);
  const [from, at] = [await cpuNow(), performance.now()];
  await sleep(restMs);
  return { ...since(from, await cpuNow()), wallMs: performance.now() - at };
}

/** By report.csv, which begins with a line for Excel: a million invoices of report.json are more than one string can hold. */
async function sendingTime(report: string): Promise<number> {
  let first = Infinity;
  let latest = 0;
  const lines = createReadStream(report).pipe(parse({ columns: true, delimiter: ';', from_line: 2 }));
  for await (const { sent_at: sentAt } of lines as AsyncIterable<{ readonly sent_at: string }>) {
    if (sentAt === '') continue;
    const at = Date.parse(sentAt);
    first = Math.min(first, at);
    latest = Math.max(latest, at);
  }
  return latest - first;
}

/** Of the batch and of all its pages. */
async function historyEvents(client: Client, batchId: string): Promise<number> {
  let events = 0;
  for await (const run of client.workflow.list({ query: `WorkflowId STARTS_WITH "${batchId}"` })) {
    const described = await client.workflow.getHandle(run.workflowId, run.runId).describe();
    events += described.historyLength;
  }
  return events;
}
