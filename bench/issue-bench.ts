import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChild } from './child.ts';
import { issueTable, type LoteMeasure } from './issue-table.ts';
import type { IssueOptions, LedgerKind } from './options.ts';
import { timelineTable } from './measures/timeline.ts';
import { nodeVersion } from './measures/node-version.ts';
import { printTable, type Table } from './print-table.ts';
import type { BareInput, BareRun } from './processes/bare-process.ts';
import { runLoteOn } from './run-lote.ts';
import { LATENCY_MS, startSandbox } from './sandbox.ts';

/** The default of the service profile's `limits.maxConcurrency`. */
const CONNECTIONS = 64;
/** The sandbox's code is compiled, and its pools are filled, before anything is measured. */
const WARM_UP_INVOICES = 2_000;

/** Lote from file to report, and a bare script that keeps nothing, against one sandbox process. */
export async function runIssueBench(options: IssueOptions): Promise<Table> {
  const version = nodeVersion(options.node);
  const directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
  const sandbox = await startSandbox(options);
  try {
    const url = sandbox.first.url;
    await runBare(url, 'warmup', { ...options, invoices: WARM_UP_INVOICES });
    const bare: BareRun[] = [await runBare(url, 'before', options)];
    const lote: LoteMeasure[] = [];
    for (const ledger of options.ledgers) {
      const measure = await measureLote(ledger, { url, directory, options });
      if (measure !== null) lote.push(measure);
      // The machine may be busier now than before: the bare script is measured around each run.
      bare.push(await runBare(url, `after-${ledger}`, options));
    }
    return issueTable({ options, bare, lote, latencyMs: LATENCY_MS, nodeVersion: version });
  } finally {
    await sandbox.end();
    await rm(directory, { recursive: true, force: true });
  }
}

function runBare(sandboxUrl: string, name: string, options: IssueOptions): Promise<BareRun> {
  const input: BareInput = {
    sandboxUrl,
    apiKey: `sk_test_bare-${name}`,
    invoices: options.invoices,
    connections: CONNECTIONS,
  };
  return runChild<BareRun>({ file: 'bare-process.ts', input, profileDir: options.profileDir, node: options.node });
}

async function measureLote(
  ledger: LedgerKind,
  place: { url: string; directory: string; options: IssueOptions },
): Promise<LoteMeasure | null> {
  const { invoices, profileDir, metrics, node, timeline, statements } = place.options;
  const measured = await runLoteOn(ledger, statements, {
    ...{ sandboxUrl: place.url, directory: join(place.directory, ledger) },
    ...{ invoices, profileDir, metrics, node, timeline },
  });
  if (measured === null)
    process.stderr.write('No PostgreSQL on this machine (initdb and postgres): Lote is measured on PGlite only.\n');
  if (measured?.timeline !== undefined) printTable(timelineTable(measured.timeline));
  return measured;
}
