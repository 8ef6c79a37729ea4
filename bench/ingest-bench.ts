import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeInvoiceFile } from '../test/support/invoice-file.ts';
import { startPostgresCluster } from '../test/support/postgres-cluster.ts';
import { runChild } from './child.ts';
import type { IngestOptions } from './options.ts';
import type { Table } from './print-table.ts';
import type { IngestInput, IngestRun } from './processes/ingest-process.ts';

const FILE = 'rows.csv';

interface Measure extends IngestRun {
  readonly name: string;
}

/** One file, read by csv-parse alone, by Lote without a ledger, and by Lote into each ledger; a process for each. */
export async function runIngestBench({ rows }: IngestOptions): Promise<Table> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
  const cluster = await startPostgresCluster({ durable: true });
  try {
    await writeInvoiceFile(join(directory, FILE), { invoices: rows });
    const measure = async (name: string, over: Partial<IngestInput> & Pick<IngestInput, 'work'>): Promise<Measure> => ({
      name,
      ...(await runChild<IngestRun>({
        file: 'ingest-process.ts',
        input: { directory, file: FILE, databaseUrl: null, ...over } satisfies IngestInput,
        nodeOptions: ['--expose-gc'],
      })),
    });
    const measures = [
      await measure('csv-parse alone', { work: 'parse' }),
      await measure('Lote, rows thrown away', { work: 'read' }),
    ];
    if (cluster !== null)
      measures.push(await measure('Lote to staged, PostgreSQL', { work: 'stage', databaseUrl: cluster.url }));
    measures.push(await measure('Lote to staged, PGlite', { work: 'stage' }));
    const { size } = await stat(join(directory, FILE));
    return ingestTable(measures, `${rows.toLocaleString('en')} rows, ${(size / 1024 / 1024).toFixed(0)} MB`);
  } finally {
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function ingestTable(measures: readonly Measure[], title: string): Table {
  const [plain] = measures;
  return {
    title,
    columns: ['work', 'wall s', 'rows/s', 'to csv-parse', 'CPU µs/row', 'idle RSS MB', 'peak RSS MB', 'above idle MB'],
    rows: measures.map((run) => [
      run.name,
      (run.wallMs / 1000).toFixed(1),
      Math.round((run.rows * 1000) / run.wallMs).toLocaleString('en'),
      (rate(run) / (plain === undefined ? 1 : rate(plain))).toFixed(2),
      ((run.cpuMs * 1000) / run.rows).toFixed(1),
      run.idleRssMb.toFixed(0),
      run.peakRssMb.toFixed(0),
      (run.peakRssMb - run.idleRssMb).toFixed(0),
    ]),
    notes: [
      'Each line is a process of its own. Idle: everything loaded, the ledger open, nothing read. Peak: the kernel’s high-water mark. On PGlite the database is part of the process.',
    ],
  };
}

function rate({ rows, wallMs }: IngestRun): number {
  return rows / wallMs;
}
