import { processCpuMs, processTreeUsage } from '../../../bench/measures/process-tree-usage.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import type { Cluster } from './cluster.ts';
import type { IssuedBatch, RunningCluster } from './running-cluster.ts';
import { ownPort } from '../../support/servers/own-port.ts';

/** CPU time in milliseconds, by part. */
type Cpu = Awaited<ReturnType<typeof cpuOf>>;
export type Rate = ReturnType<typeof rateOf>;

/** CPU time of the parts of a cluster so far; zero where there is no /proc. */
export async function cpuOf(running: RunningCluster, { postgres }: Cluster) {
  const sum = (commands: readonly RunningCommand[]): number =>
    commands.reduce((total, { pid }) => total + processCpuMs(pid), 0);
  return {
    workers: sum(running.workers),
    receivers: sum(running.receivers),
    temporal: sum([running.temporal]),
    // The server is a child of its guard, and has the time of its own children that ended.
    postgres: (await processTreeUsage(postgres.pid)).cpuMs,
  };
}

/** What a batch cost by the figures before and after it. */
export function rateOf(run: {
  readonly workers: number;
  readonly invoices: number;
  readonly batch: Pick<IssuedBatch, 'seconds'>;
  readonly before: Cpu;
  readonly after: Cpu;
}) {
  const { workers, invoices, batch, before, after } = run;
  const parts = Object.keys(after) as (keyof Cpu)[];
  const cpu = Object.fromEntries(parts.map((part) => [part, after[part] - before[part]]));
  return { workers, invoices, seconds: batch.seconds, cpu };
}

/** Prints the rates as rows of a Markdown table. */
export function printRates(rates: readonly Rate[]): void {
  const head =
    '| workers | invoices | from command to report | invoices/s | CPU an invoice: workers | receivers | Temporal | PostgreSQL |';
  const rows = rates.map(({ workers, invoices, seconds, cpu }) => {
    const each = Object.values(cpu).map((ms) => `${(ms / invoices).toFixed(2)} ms`);
    return `| ${[workers, invoices, `${seconds.toFixed(1)} s`, (invoices / seconds).toFixed(0), ...each].join(' | ')} |`;
  });
  process.stderr.write(`\n${[head, '|---|---|---|---|---|---|---|---|', ...rows].join('\n')}\n\n`);
}

/** `lote_service_request_duration_seconds_count{operation="create-invoice",outcome="2xx",…} 17` */
const CREATED =
  /^lote_service_request_duration_seconds_count\{(?=[^}]*operation="create-invoice")[^}]*outcome="2xx"[^}]*\} (\d+)/gmu;

/** Adds so many workers, each with metrics of its own; `created` counts the invoices that each has created. */
export async function addCountedWorkers(running: RunningCluster, count: number) {
  const ports: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const port = await ownPort();
    await running.addWorker({ HEALTH_HOST: '127.0.0.1', METRICS_PORT: String(port) });
    ports.push(port);
  }
  return { created: () => Promise.all(ports.map(createdBy)) };
}

async function createdBy(port: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...metrics.matchAll(CREATED)].reduce((total, [, invoices]) => total + Number(invoices), 0);
}

/** Prints the shares as rows of a Markdown table. */
export function printShares(shares: readonly number[]): void {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const rows = shares.map((share, at) => `| ${at + 1} | ${share} | ${((100 * share) / total).toFixed(1)} % |`);
  process.stderr.write(`\n${['| worker | invoices | share |', '|---|---|---|', ...rows].join('\n')}\n\n`);
}
