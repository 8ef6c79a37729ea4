import { COLUMNS, type Column, type RawRow } from '../../domain/row.ts';
import { type CellFindings, shownCell } from '../findings.ts';
import type { Conversion } from '../ingest-result.ts';
import { isPlaceholder, isSpreadsheetError } from './no-value.ts';

/** Cells that need no check: printable ASCII with a letter or digit and no suspicious sign. Nearly all cells match. */
const PLAIN = /^(?=.*[0-9A-Za-z])(?!#|Err:|=)[\u0020-\u0024\u0027-\u003b=>-\u005b\u005d-\u007e]*$/;
/** Control characters except TAB, LF and CR. */
// oxlint-disable-next-line no-control-regex -- the expression must find control characters
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Half of a surrogate pair: the ledger stores one sign for each half, so two references would become one. */
const HALF = /\p{Cs}/u;
/** The character that programs write for a character that they could not read. */
const LOST = '\u{fffd}';
/** Zero-width and direction marks: two references that look the same would be two invoices. */
const INVISIBLE = /\p{Cf}/u;
/** UTF-8 that a program read as windows-1252 before it wrote this file, such as `JoÃ£o` or `â‚¬`. */
const MISREAD =
  /\u00c3[\u00a0-\u00bf\u0192\u2021\u2030\u0160\u201c\u201d]|\u00e2\u20ac|\u00e2\u201a\u00ac|\u00c2[\u00a0-\u00bf]/;
/** Programs write a text into a CSV file in this form so that Excel keeps its zeros; `=` and quotes are not data. */
const TEXT_AS_FORMULA = /^="(?:[^"]|"")*"$/;
const LONGEST_WORD = 30;
const FORMULA = /^=[\s+-]*\p{L}[\p{L}\p{N}._]*\(/u;
/** Escape sequences of HTML, URLs and program texts: `&amp;`, `%C3%A9`, `\\u00e9`. */
const ENTITY = /&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});|%[0-9A-F]{2}|\\u[0-9A-Fa-f]{4}/u;
const TAG = /<(?:\/?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?\/?|!--[^>]*)>/u;
/** Columns in which Lote would send a placeholder as a value. The other columns are parsed, or are not sent. */
const NAMED: ReadonlySet<Column> = new Set([
  ...(['invoice_ref', 'merchant_legal_name', 'customer_name', 'customer_tax_id'] as const),
  ...(['description', 'tax_code'] as const),
]);
/** Columns whose text must be exact, because programs compare it. */
const EXACT: ReadonlySet<Column> = new Set(['invoice_ref', 'customer_tax_id', 'currency', 'tax_code']);

/** Checks the rows of one identity: their characters, repeated rows, and two JSON objects for one invoice. */
export function checkGroup(group: readonly RawRow[], conversion: Conversion, findings: CellFindings): void {
  for (const row of group) checkCharacters(row, findings);
  checkObjects(group, findings);
  if (conversion.duplicateRows === 'refuse') checkRepeats(group, findings);
}

function checkCharacters(row: RawRow, findings: CellFindings): void {
  row.cells.forEach((found, at) => {
    const column = COLUMNS[at];
    // A reference that is built from several columns has no cell of its own.
    const cell = found ?? (column === 'invoice_ref' ? row.ref : null);
    if (cell === null || column === undefined || (PLAIN.test(cell) && !saysNothing(column, cell))) return;
    checkErrors({ row: row.row, column, cell }, findings);
    checkDoubts({ row: row.row, column, cell }, findings);
  });
}

/** A placeholder of letters alone matches `PLAIN`. */
function saysNothing(column: Column, cell: string): boolean {
  return NAMED.has(column) && cell.length <= LONGEST_WORD && (isPlaceholder(cell) || isSpreadsheetError(cell));
}

interface Cell {
  readonly row: number;
  readonly column: Column;
  readonly cell: string;
}

function checkErrors({ row, column, cell }: Cell, findings: CellFindings): void {
  const control = CONTROL.exec(cell)?.[0] ?? (EXACT.has(column) ? INVISIBLE.exec(cell)?.[0] : undefined);
  if (control !== undefined) {
    const isControl = CONTROL.test(control);
    const message = `expected text, found the ${isControl ? 'control' : 'invisible'} character ${codeOf(control)}. Remove it`;
    findings.error(row, column, isControl ? 'control-character' : 'invisible-character', message);
  }
  const half = HALF.exec(cell)?.[0];
  if (half !== undefined) {
    const message = `expected text, found ${codeOf(half)}, which is half of a character. Write the text again`;
    findings.error(row, column, 'control-character', message);
  }
  if (EXACT.has(column) && cell.includes(LOST)) {
    const message = `expected whole text, found ${shownCell(cell)}: U+FFFD stands for a character that was lost before this file was written, so that two different values may have become this one. Write the value again`;
    findings.error(row, column, 'character-lost', message);
  }
  if (TEXT_AS_FORMULA.test(cell.trim()) || FORMULA.test(cell.trim())) {
    const message = `expected a value, found the formula ${shownCell(cell.trim())}, which a text file does not calculate. Write the value alone, without the equals sign and the quotes around it`;
    findings.error(row, column, 'formula-as-text', message);
  }
  if (isMarkup(cell) && EXACT.has(column)) {
    const message = `expected a value, found ${shownCell(cell)}, in which signs stand as HTML, an address of a page or a program writes them. Write the signs themselves`;
    findings.error(row, column, 'markup', message);
  }
  if (isSpreadsheetError(cell)) {
    const message = `expected a value, found ${shownCell(cell.trim())}, which a spreadsheet shows instead of one. Correct the formula or widen the column, and export again`;
    findings.error(row, column, 'spreadsheet-error', message);
  } else if (NAMED.has(column) && isPlaceholder(cell)) {
    const message = `expected a value, found ${shownCell(cell.trim())}, which programs write where they have none. Write the value, or leave the cell empty where it may be empty`;
    findings.error(row, column, 'placeholder', message);
  }
}

function isMarkup(cell: string): boolean {
  return ENTITY.test(cell) || TAG.test(cell);
}

function checkDoubts({ row, column, cell }: Cell, findings: CellFindings): void {
  if (!EXACT.has(column) && cell.includes(LOST)) {
    const message =
      'found the character U+FFFD, which stands for one that was lost before this file was written; it is sent as it is';
    findings.warning(row, column, 'replacement-character', message);
  }
  if (!EXACT.has(column) && isMarkup(cell)) {
    const message = `found ${shownCell(cell)}, in which signs stand as HTML, an address of a page or a program writes them; it is sent as it is`;
    findings.warning(row, column, 'markup', message);
  }
  if (MISREAD.test(cell)) {
    const message = `found ${shownCell(cell)}, which looks like UTF-8 that was read in another encoding before this file was written; it is sent as it is`;
    findings.warning(row, column, 'text-misread', message);
  }
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function checkObjects(group: readonly RawRow[], findings: CellFindings): void {
  const [first] = group;
  const other = group.find((row) => row.object !== first?.object);
  if (first === undefined || other === undefined) return;
  const message = `expected one object for each invoice, found a second one of the same merchant and reference; the first begins with row ${first.row}. Merge them, or give one another reference`;
  findings.error(other.row, 'invoice_ref', 'identity-repeated', message);
}

function checkRepeats(group: readonly RawRow[], findings: CellFindings): void {
  if (group.length < 2) return;
  const seen = new Map<string, number>();
  for (const row of group) {
    const key = JSON.stringify([row.object, row.cells.map((cell) => cell?.trim() ?? '')]);
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, row.row);
    else {
      const message = `expected each row once, found the same as row ${earlier}. Remove one, or keep both with --duplicate-rows keep`;
      findings.error(row.row, 'invoice_ref', 'row-repeated', message);
    }
  }
}
