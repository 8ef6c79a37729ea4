import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { PostgresCluster } from '../test/support/servers/postgres-cluster.ts';
import { runChild } from './child.ts';
import { startFake } from './comparison/fake.ts';
import { cpuText, type LoteMeasure } from './issue-table.ts';
import { startDeployedPostgres } from './deployed-postgres.ts';
import { holdInvoices } from './measures/held-invoices.ts';
import { nodeVersion } from './measures/node-version.ts';
import { COUNTING_STATEMENTS, forgetStatements, statementTable } from './measures/statement-times.ts';
import type { LinearOptions } from './options.ts';
import { printTable, type Table } from './print-table.ts';
import type { BareInput, BareRun } from './processes/bare-process.ts';
import { runLote } from './run-lote.ts';

/** One batch on a ledger of its own. */
export interface LinearMeasure {
  readonly invoices: number;
  /** Settled invoices that the ledger held before the batch. */
  readonly held: number;
  readonly lote: LoteMeasure;
  /** Invoices/s of the bare script just before and just after: the machine may be busier now than it was for the batch before. */
  readonly barePerSecond: number;
  /** By which the batch made the ledger larger. */
  readonly ledgerBytes: number;
}

/** The bare script keeps nothing, so that more would not be slower. */
const BARE_INVOICES = 20_000;
const CONNECTIONS = 64;
const MB = 1024 * 1024;
/** Every run meets the same: nothing is tidied meanwhile but by the product. */
const SETTINGS = { autovacuum: 'off' };

/** Batches of several sizes, each on a PostgreSQL of its own; with `held`, each again on one that holds so many settled invoices. */
export async function runLinearBench({ batches, held, node, statements }: LinearOptions): Promise<Table> {
  const version = nodeVersion(node);
  const measures: LinearMeasure[] = [];
  for (const holds of held === 0 ? [0] : [0, held])
    for (const invoices of batches) {
      const measure = await measureBatch({ invoices, held: holds, node, statements });
      const seconds = (measure.lote.wallMs / 1000).toFixed(1);
      process.stderr.write(`${invoices} invoices on a ledger of ${holds}: ${seconds} s\n`);
      measures.push(measure);
    }
  return linearTable(measures, version);
}

interface Batch {
  readonly invoices: number;
  readonly held: number;
  readonly node: string;
  readonly statements: boolean;
}

async function measureBatch(batch: Batch): Promise<LinearMeasure> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
  const cluster = await startDeployedPostgres({ ...SETTINGS, ...(batch.statements ? COUNTING_STATEMENTS : {}) });
  if (cluster === null) throw new Error('Measuring batches: no PostgreSQL on this machine (initdb and postgres).');
  // The sandbox keeps what a service must answer for, 2.5 GB for a million invoices, and becomes slower itself.
  const fake = await startFake(BARE_INVOICES);
  const { url } = fake;
  try {
    const before = await barePerSecond(url, { ...batch, name: 'before' });
    const { lote, ledgerBytes } = await issueBatch(batch, { cluster, directory, sandboxUrl: url });
    const after = await barePerSecond(url, { ...batch, name: 'after' });
    return { ...batch, lote, ledgerBytes, barePerSecond: (before + after) / 2 };
  } finally {
    await fake.end();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function issueBatch(
  { invoices, held, node, statements }: Batch,
  { cluster, directory, sandboxUrl }: { cluster: PostgresCluster; directory: string; sandboxUrl: string },
): Promise<{ lote: LoteMeasure; ledgerBytes: number }> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    let bytesBefore = 0;
    const lote = await runLote({
      ...{ ledger: 'postgres', databaseUrl: cluster.url, databasePid: cluster.pid, profileDir: null, metrics: false },
      ...{ invoices, node, directory, sandboxUrl },
      beforeMeasured: async () => {
        if (held > 0) await holdInvoices(client, held);
        bytesBefore = await databaseBytes(client);
        if (statements) await forgetStatements(cluster.url);
      },
    });
    if (statements) printTable(await statementTable(cluster.url, invoices));
    return { lote, ledgerBytes: (await databaseBytes(client)) - bytesBefore };
  } finally {
    await client.end();
  }
}

async function databaseBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
  return Number(rows[0]?.bytes ?? 0);
}

async function barePerSecond(sandboxUrl: string, run: Batch & { readonly name: string }): Promise<number> {
  const invoices = Math.min(run.invoices, BARE_INVOICES);
  const input: BareInput = { sandboxUrl, apiKey: `sk_test_bare-${run.name}`, invoices, connections: CONNECTIONS };
  const { wallMs } = await runChild<BareRun>({ file: 'bare-process.ts', input, node: run.node });
  return (invoices * 1000) / wallMs;
}

/** A row for each batch; rates are compared with that of the first. */
function linearTable(measures: readonly LinearMeasure[], version: string): Table {
  const rate = ({ invoices, lote }: LinearMeasure): number => (invoices * 1000) / lote.wallMs;
  const [first] = measures;
  return {
    title: `Batches on PostgreSQL, Node ${version}`,
    columns: [
      ...['invoices', 'ledger held', 'wall s', 'invoices/s', 'to the first', 'ratio', 'sending/s', 'events/invoice'],
      ...['CPU ms/invoice', 'peak RSS MB', 'ledger MB', 'bytes/invoice'],
    ],
    rows: measures.map((one) => [
      one.invoices.toLocaleString('en'),
      one.held.toLocaleString('en'),
      (one.lote.wallMs / 1000).toFixed(1),
      Math.round(rate(one)).toLocaleString('en'),
      (rate(one) / rate(first ?? one)).toFixed(2),
      (rate(one) / one.barePerSecond).toFixed(2),
      Math.round((one.invoices * 1000) / one.lote.sendingMs).toLocaleString('en'),
      (one.lote.historyEvents / one.invoices).toFixed(3),
      cpuText(one.lote, one.invoices),
      one.lote.peakRssMb.toFixed(0),
      (one.ledgerBytes / MB).toFixed(0),
      (one.ledgerBytes / one.invoices).toFixed(0),
    ]),
    notes: [
      'From the file to its report, each on a PostgreSQL of its own. To the first: invoices/s over those of the first row. Ratio: over the bare script just before and just after.',
      'Ledger: what the batch added to the database, with dead rows that nothing has removed yet. Held: settled invoices, copies of what the product left of a small batch.',
    ],
  };
}
