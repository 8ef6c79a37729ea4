/** What a spreadsheet may take for the start of a formula, half and full width, behind any quotes that are there already. */
const RISKY = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const FORMULA_START = /^'+[=+\-@\t\r\n＝＋－＠]/u;
/** A signed number is no formula: digits with marks and spaces between them, an exponent, a percent or currency beside them. */
const SIGNED_NUMBER = /^[+-]\s*[€$£]?\s*\d[\d.,'’\s]*(?:[eE][+-]?\d+)?(?:[%€$£]|[A-Z]{3})?$/u;

/** No number is longer. The expression tries the spaces of a text in each way that they can be divided: a cell with a million of them would keep it for minutes. */
const LONGEST_NUMBER = 64;

/**
 * Text that no spreadsheet executes: a leading quote before what would start a formula. A cell that starts with quotes
 * and then a formula sign gets one more, so that taking one off always gives the cell back.
 */
export function escapeFormula(text: string): string {
  return RISKY.test(text) && !isSignedNumber(text) ? `'${text}` : text;
}

function isSignedNumber(text: string): boolean {
  return text.length <= LONGEST_NUMBER && SIGNED_NUMBER.test(text);
}

/** The cell that `escapeFormula` was given; for files that carry Lote's own columns only. */
export function originalCell(text: string): string {
  return FORMULA_START.test(text) ? text.slice(1) : text;
}

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
