import { escapeFormula } from './escape-formula.ts';

/** Any sign that some spreadsheet or locale takes for a separator: quoting all of them keeps a cell whole under each. */
const NEEDS_QUOTES = /[",;\t|\r\n]|^\s|\s$/u;

/** The list separator of Excel in Portuguese and Spanish; the hint line tells it to Excel in English. */
const EXCEL_DELIMITER = ';';
const LINE_END = '\r\n';

/** What a CSV file for Excel in any language begins with: without the byte order mark Excel takes UTF-8 for the machine's code page. */
export const EXCEL_CSV_START = `\uFEFFsep=${EXCEL_DELIMITER}${LINE_END}`;

/** One record of such a file, with its line end. */
export function excelCsvRecord(cells: readonly string[]): string {
  return csvRecord(cells, EXCEL_DELIMITER) + LINE_END;
}

/** One record of text cells, inert and quoted where it matters, without its line end. */
export function csvRecord(cells: readonly string[], delimiter: string): string {
  return cells.map((cell) => quoted(escapeFormula(cell), delimiter)).join(delimiter);
}

function quoted(cell: string, delimiter: string): string {
  return NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
