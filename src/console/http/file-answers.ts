import type { Context } from 'hono';
import type { PageFormat } from '../pages/page-format.ts';
import { csvTable, type Table, xlsxTable } from './table-files.ts';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** The kinds of file in which a table is handed out. */
export const TABLE_KINDS = ['csv', 'xlsx'] as const;
/** One of `TABLE_KINDS`. */
export type TableKind = (typeof TABLE_KINDS)[number];

/** A file to be saved. */
interface TableFile {
  /** Plain characters only. */
  readonly name: string;
  readonly kind: TableKind;
  readonly format: Pick<PageFormat, 'decimalMark'>;
}

/** A table as a file to be saved. */
export async function tableAnswer(context: Context, table: Table, { name, kind, format }: TableFile) {
  const body = kind === 'csv' ? csvTable(table, format.decimalMark) : new Uint8Array(await xlsxTable(table, name));
  return context.body(body, 200, {
    'content-type': kind === 'csv' ? 'text/csv; charset=utf-8' : XLSX,
    'content-disposition': `attachment; filename="${name}.${kind}"`,
  });
}
