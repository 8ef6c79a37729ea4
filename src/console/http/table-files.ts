import type { Context } from 'hono';
import { EXCEL_CSV_START, excelCsvRecord } from '../../domain/text/escape-formula.ts';

/** Cells of a table; the first row has the headings. A `decimal` is canonical. */
export type Table = readonly (readonly (string | { readonly decimal: string })[])[];

/** A table as CSV for Excel, to be saved: byte order mark, separator hint, inert cells, and decimals with the mark that the reader's Excel expects. */
export function csvAnswer(context: Context, name: string, table: Table, decimalMark = '.'): Response {
  const textOf = (cell: Table[number][number]) =>
    typeof cell === 'string' ? cell : cell.decimal.replace('.', decimalMark);
  const csv = EXCEL_CSV_START + table.map((row) => excelCsvRecord(row.map(textOf))).join('');
  return context.body(csv, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
}
