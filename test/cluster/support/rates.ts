import { processCpuMs, processTreeUsage } from '../../../bench/measures/process-tree-usage.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import type { Cluster } from './cluster.ts';
import type { IssuedBatch, RunningCluster } from './running-cluster.ts';

/** CPU time in milliseconds, by part. */
export interface Cpu {
  readonly workers: number;
  readonly receivers: number;
  readonly temporal: number;
  readonly postgres: number;
}

/** What one batch cost. */
export interface Rate {
  readonly workers: number;
  readonly invoices: number;
  readonly seconds: number;
  readonly cpu: Cpu;
}

/** CPU time of the parts of a cluster so far; zero where there is no /proc. */
export async function cpuOf(running: RunningCluster, { postgres }: Cluster): Promise<Cpu> {
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
}): Rate {
  const { before, after } = run;
  const cpu = {
    workers: after.workers - before.workers,
    receivers: after.receivers - before.receivers,
    temporal: after.temporal - before.temporal,
    postgres: after.postgres - before.postgres,
  };
  return { workers: run.workers, invoices: run.invoices, seconds: run.batch.seconds, cpu };
}

/** Prints the rates as rows of a Markdown table. */
export function printRates(rates: readonly Rate[]): void {
  const head =
    '| workers | invoices | from command to report | invoices/s | CPU an invoice: workers | receivers | Temporal | PostgreSQL |';
  const rows = rates.map(({ workers, invoices, seconds, cpu }) => {
    const each = Object.values(cpu).map((ms: number) => `${(ms / invoices).toFixed(2)} ms`);
    return `| ${[workers, invoices, `${seconds.toFixed(1)} s`, (invoices / seconds).toFixed(0), ...each].join(' | ')} |`;
  });
  process.stderr.write(`\n${[head, '|---|---|---|---|---|---|---|---|', ...rows].join('\n')}\n\n`);
}
