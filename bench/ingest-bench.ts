import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { writeInvoiceFile } from '../test/support/files/batch-file.ts';
import { startDeployedPostgres } from './deployed-postgres.ts';
import { runChild } from './child.ts';
import { BLOCK_NOTE, delayText } from './measures/event-loop-watch.ts';
import type { IngestOptions } from './options.ts';
import type { Table } from './print-table.ts';
import type { IngestInput, IngestRun } from './processes/ingest-process.ts';

const FILE = 'rows.csv';
/** The same work as a Portuguese Excel writes it: semicolons, windows-1252, quotes, decimal commas, a currency sign. */
const EXCEL_FILE = 'rows-of-excel.csv';

interface Measure extends IngestRun {
  readonly name: string;
  /** Rows/s of csv-parse on the same file. */
  readonly plain: number;
}

/** One file, read by csv-parse alone, by Lote without a ledger, and by Lote into each ledger; a process for each. */
export async function runIngestBench({ rows, node }: IngestOptions): Promise<Table> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
  const cluster = await startDeployedPostgres();
  try {
    await writeInvoiceFile(join(directory, FILE), { invoices: rows });
    await writeFile(join(directory, EXCEL_FILE), iconv.encode(excelText(rows), 'windows-1252'));
    const run = (over: Partial<IngestInput> & Pick<IngestInput, 'work'>) =>
      runChild<IngestRun>({
        file: 'ingest-process.ts',
        input: { directory, file: FILE, delimiter: ',', databaseUrl: null, ...over } satisfies IngestInput,
        nodeOptions: ['--expose-gc'],
        node,
      });
    const parsed = await run({ work: 'parse' });
    const plain = rate(parsed);
    const measures: Measure[] = [
      { name: 'csv-parse alone', plain, ...parsed },
      { name: 'Lote, rows thrown away', plain, ...(await run({ work: 'read' })) },
    ];
    const excel = { file: EXCEL_FILE, delimiter: ';' };
    const parsedExcel = await run({ work: 'parse', ...excel });
    const plainExcel = rate(parsedExcel);
    measures.push(
      { name: "csv-parse alone, Excel's way", plain: plainExcel, ...parsedExcel },
      { name: "Lote, rows thrown away, Excel's way", plain: plainExcel, ...(await run({ work: 'read', ...excel })) },
    );
    if (cluster !== null)
      measures.push({
        name: 'Lote to staged, PostgreSQL',
        plain,
        ...(await run({ work: 'stage', databaseUrl: cluster.url })),
      });
    measures.push({ name: 'Lote to staged, PGlite', plain, ...(await run({ work: 'stage' })) });
    const { size } = await stat(join(directory, FILE));
    return ingestTable(measures, `${rows.toLocaleString('en')} rows, ${(size / 1024 / 1024).toFixed(0)} MB`);
  } finally {
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function excelText(rows: number): string {
  const header =
    'invoice_ref;merchant_nif;customer_name;customer_tax_id;currency;description;quantity;unit_price;tax_code\r\n';
  const lines = Array.from({ length: rows }, (_, at) => {
    const price = `${1 + (at % 9)}.${String(at % 1000).padStart(3, '0')},${String(at % 100).padStart(2, '0')} €`;
    return `F/${at};501964843;João Conceição ${at};${200_000_000 + at};EUR;"Pão ""bom""; ${at}";${1 + (at % 7)},5;${price};IVA_23\r\n`;
  });
  return header + lines.join('');
}

function ingestTable(measures: readonly Measure[], title: string): Table {
  return {
    title,
    columns: [
      ...['work', 'wall s', 'rows/s', 'to csv-parse', 'CPU µs/row', 'idle RSS MB', 'peak RSS MB', 'above idle MB'],
      'longest block ms',
    ],
    rows: measures.map((run) => [
      run.name,
      (run.wallMs / 1000).toFixed(1),
      Math.round((run.rows * 1000) / run.wallMs).toLocaleString('en'),
      (rate(run) / run.plain).toFixed(2),
      ((run.cpuMs * 1000) / run.rows).toFixed(1),
      run.idleRssMb.toFixed(0),
      run.peakRssMb.toFixed(0),
      (run.peakRssMb - run.idleRssMb).toFixed(0),
      delayText(run.loop),
    ]),
    notes: [
      BLOCK_NOTE,
      'Each line is a process of its own. Idle: everything loaded, the ledger open, nothing read. Peak: the kernel’s high-water mark. On PGlite the database is part of the process.',
    ],
  };
}

function rate({ rows, wallMs }: IngestRun): number {
  return rows / wallMs;
}
