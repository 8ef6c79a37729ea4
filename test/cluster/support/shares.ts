import { ownPort } from '../../support/servers/own-port.ts';
import type { RunningCluster } from './running-cluster.ts';

/** `lote_service_answers_total{operation="create-invoice",answer="created",…} 17` */
const CREATED = /^lote_service_answers_total\{(?=[^}]*operation="create-invoice")[^}]*answer="created"[^}]*\} (\d+)/gmu;

/** Workers whose invoices can be told apart. */
export interface CountedWorkers {
  /** Invoices that each of them has created at the service so far. */
  created(): Promise<readonly number[]>;
}

/** Adds so many workers, each with metrics of its own. */
export async function addCountedWorkers(running: RunningCluster, count: number): Promise<CountedWorkers> {
  const ports: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const port = await ownPort();
    await running.addWorker({ METRICS_HOST: '127.0.0.1', METRICS_PORT: String(port) });
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
