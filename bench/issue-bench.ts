import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChild } from './child.ts';
import { issueTable, type LoteMeasure } from './issue-table.ts';
import type { IssueOptions, LedgerKind } from './options.ts';
import { startDeployedPostgres } from './deployed-postgres.ts';
import { COUNTING_STATEMENTS, forgetStatements, statementTable } from './measures/statement-times.ts';
import { timelineTable } from './measures/timeline.ts';
import { nodeVersion } from './measures/node-version.ts';
import { printTable, type Table } from './print-table.ts';
import type { BareInput, BareRun } from './processes/bare-process.ts';
import { runLote } from './run-lote.ts';
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
  const { statements } = place.options;
  const settings = statements ? COUNTING_STATEMENTS : {};
  const cluster = ledger === 'postgres' ? await startDeployedPostgres(settings) : null;
  if (ledger === 'postgres' && cluster === null) {
    process.stderr.write('No PostgreSQL on this machine (initdb and postgres): Lote is measured on PGlite only.\n');
    return null;
  }
  try {
    const { options } = place;
    const counted = statements && cluster !== null ? cluster.url : null;
    const measured = await runLote({
      ledger,
      databaseUrl: cluster?.url ?? null,
      databasePid: cluster?.pid ?? null,
      sandboxUrl: place.url,
      directory: join(place.directory, ledger),
      invoices: options.invoices,
      profileDir: options.profileDir,
      metrics: options.metrics,
      node: options.node,
      timeline: options.timeline,
      ...(counted !== null && { beforeMeasured: () => forgetStatements(counted) }),
    });
    if (measured.timeline !== undefined) printTable(timelineTable(measured.timeline));
    if (counted !== null) printTable(await statementTable(counted, options.invoices));
    return measured;
  } finally {
    await cluster?.stop();
  }
}
