import writeExcelFile from 'write-excel-file/node';
import { EXCEL_CSV_START, excelCsvRecord } from '../../domain/text/csv-record.ts';
import { escapeFormula } from '../../domain/text/escape-formula.ts';

/** What a spreadsheet keeps of a number; longer ones stay text, so that no digit is lost. */
const EXACT_DIGITS = 15;
/** Excel takes a longer cell for damage. */
const LONGEST_CELL = 32_767;
/** No workbook can hold them; taken out before a formula is looked for, which might begin behind one. */
const CONTROLS = /[^\P{Cc}\t\r\n]/gu;

/** Cells of a table; the first row has the headings. A `decimal` is canonical and may become a number. */
export type Table = readonly (readonly (string | { readonly decimal: string })[])[];

/** As CSV for Excel: byte order mark, separator hint, inert cells; decimals with the mark that the reader's Excel expects. */
export function csvTable(table: Table, decimalMark = '.'): string {
  const textOf = (cell: Table[number][number]) =>
    typeof cell === 'string' ? cell : cell.decimal.replace('.', decimalMark);
  return EXCEL_CSV_START + table.map((row) => excelCsvRecord(row.map(textOf))).join('');
}

/** As a workbook of one sheet. Text is text, and inert like that of the CSV: it may be saved as CSV from there. */
export async function xlsxTable(table: Table, sheet: string): Promise<Uint8Array> {
  const rows = table.map((row, index) =>
    row.map((cell) => ({ ...cellOf(cell), ...(index === 0 && { fontWeight: 'bold' as const }) })),
  );
  return writeExcelFile(rows, { sheet, stickyRowsCount: 1 }).toBuffer();
}

function cellOf(cell: Table[number][number]) {
  if (typeof cell === 'string') return { type: String, value: clipped(escapeFormula(cell.replaceAll(CONTROLS, ''))) };
  const isExact = cell.decimal.replaceAll(/\D/gu, '').length <= EXACT_DIGITS;
  return isExact ? { type: Number, value: Number(cell.decimal) } : { type: String, value: cell.decimal };
}

function clipped(text: string): string {
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
}
