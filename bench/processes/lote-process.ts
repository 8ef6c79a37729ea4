import { readFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import { readConfig } from '../../src/runtime/config/config.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { startBatch } from '../../src/wiring/temporal/batch-starter.ts';
import { startEmbedded } from '../../src/wiring/start/embedded.ts';
import { processTreeUsage } from '../measures/process-tree-usage.ts';
import { type Span, timelineOf } from '../measures/timeline.ts';
import { givenInput, notify, untilLetGo } from './parent.ts';

export interface LoteInput {
  /** In the input directory. */
  readonly file: string;
  /** Where the time of the batch went is told, too. */
  readonly timeline?: boolean;
}

export interface LoteRun {
  readonly startUpMs: number;
  /** From the start of the batch to its result: file to report. */
  readonly wallMs: number;
  /** From the first POST to the last, by the report. */
  readonly sendingMs: number;
  readonly historyEvents: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Of this process: worker, receiver, console, and the embedded ledger where there is one. */
  readonly peakRssMb: number;
  readonly cpuMs: number;
  readonly temporalCpuMs: number;
  /** Left out: not asked for. */
  readonly timeline?: readonly Span[];
}

/** More often than Prometheus does by default (every minute), so that what a scrape costs is in the figures. */
const SCRAPE_MS = 5_000;

const { file, timeline = false } = givenInput<LoteInput>();
const config = readConfig(process.env);
const log = createLogger({ level: config.logLevel, secrets: config.secrets });
const starting = performance.now();
const stack = await startEmbedded({
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

const cpuBefore = process.cpuUsage();
const childrenBefore = await processTreeUsage(process.pid);
const started = performance.now();
const { handle } = await startBatch({ client: stack.client, ...config }, { file, ledgerId: stack.ledger.id });
const result = await handle.result();
const wallMs = performance.now() - started;
const { user, system } = process.cpuUsage(cpuBefore);
const childrenAfter = await processTreeUsage(process.pid);

notify({
  startUpMs,
  wallMs,
  sendingMs: await sendingTime(result.reports.json),
  historyEvents: await historyEvents(stack.client, result.batchId),
  counts: result.counts,
  peakRssMb: process.resourceUsage().maxRSS / 1024,
  cpuMs: (user + system) / 1000,
  temporalCpuMs: childrenAfter.cpuMs - childrenBefore.cpuMs,
  ...(timeline && { timeline: await timelineOf(stack.client, result.batchId, result.reports.json) }),
} satisfies LoteRun);
await untilLetGo();
await stack.stop();

async function sendingTime(report: string): Promise<number> {
  const { invoices } = JSON.parse(await readFile(report, 'utf8')) as { invoices: { sentAt: string | null }[] };
  const times = invoices.flatMap(({ sentAt }) => (sentAt === null ? [] : [Date.parse(sentAt)]));
  return (
    times.reduce((latest, at) => Math.max(latest, at), 0) - times.reduce((first, at) => Math.min(first, at), Infinity)
  );
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
