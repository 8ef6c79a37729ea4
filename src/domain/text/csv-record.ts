import { escapeFormula } from './escape-formula.ts';

/** Any sign that some spreadsheet or locale takes for a separator: quoting all of them keeps a cell whole under each. */
const NEEDS_QUOTES = /[",;\t|\r\n]|^\s|\s$/u;

/** One record of text cells, inert and quoted where it matters, without its line end. */
export function csvRecord(cells: readonly string[], delimiter: string): string {
  return cells.map((cell) => quoted(escapeFormula(cell), delimiter)).join(delimiter);
}

function quoted(cell: string, delimiter: string): string {
  return NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
