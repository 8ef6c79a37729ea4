/** Signs that may start a formula in a spreadsheet, in half and full width, after any leading quotes. */
const RISKY = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const FORMULA_START = /^'+[=+\-@\t\r\n＝＋－＠]/u;
/** A signed number is not a formula: digits with marks and spaces between them, and an exponent, a percent sign or a currency. */
const SIGNED_NUMBER = /^[+-]\s*[€$£]?\s*\d[\d.,'’\s]*(?:[eE][+-]?\d+)?(?:[%€$£]|[A-Z]{3})?$/u;

/** No number is longer. The expression tries every way to divide the spaces of a text, so a cell with a million of them would take minutes. */
const LONGEST_NUMBER = 64;

/**
 * Returns text that no spreadsheet executes, with a leading quote before a formula. A cell that starts with quotes and
 * then a formula sign gets one more quote, so that removing one quote always restores the cell.
 */
export function escapeFormula(text: string): string {
  return RISKY.test(text) && !isSignedNumber(text) ? `'${text}` : text;
}

function isSignedNumber(text: string): boolean {
  return text.length <= LONGEST_NUMBER && SIGNED_NUMBER.test(text);
}

/** Returns the cell that `escapeFormula` was given; only for files with Lote's own columns. */
export function originalCell(text: string): string {
  return FORMULA_START.test(text) ? text.slice(1) : text;
}

/** Characters that some spreadsheet or locale takes for a separator: quotes around all of them keep a cell whole everywhere. */
const NEEDS_QUOTES = /[",;\t|\r\n]|^\s|\s$/u;

/** The list separator of Excel in Portuguese and Spanish; the hint line names it for Excel in English. */
const EXCEL_DELIMITER = ';';
const LINE_END = '\r\n';

/** The beginning of a CSV file for Excel in any language. Without the byte order mark, Excel reads UTF-8 in the machine's code page. */
export const EXCEL_CSV_START = `\uFEFFsep=${EXCEL_DELIMITER}${LINE_END}`;

/** Returns one record of a CSV file for Excel, with its line end. */
export function excelCsvRecord(cells: readonly string[]): string {
  return csvRecord(cells, EXCEL_DELIMITER) + LINE_END;
}

/** Returns one record of text cells without its line end: formulas are escaped, and cells are quoted where necessary. */
export function csvRecord(cells: readonly string[], delimiter: string): string {
  return cells.map((cell) => quoted(escapeFormula(cell), delimiter)).join(delimiter);
}

function quoted(cell: string, delimiter: string): string {
  return NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
