import type { IngestOptions } from './options.ts';
import type { Table } from './print-table.ts';

export async function runIngestBench(options: IngestOptions): Promise<Table> {
  return { title: `${options.rows}`, columns: [], rows: [], notes: [] };
}
