import { COLUMNS } from '../../domain/row.ts';
import type { Column, RawRow } from '../../domain/row.ts';
import type { CellFindings } from './cell-findings.ts';
import { shownCell } from './cell-findings.ts';
import type { Conversion } from '../ingest-result.ts';

/** Cells of printable ASCII that start neither as an error nor as a formula need no look: nearly all of them, in nearly every file. */
const PLAIN = /^(?!#|Err:|=)[\u0020-\u007e]*$/;
/** Control characters but TAB, LF and CR. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Half of a character: a workbook can write one. The ledger keeps the same sign for each, so that two references would be one. */
const HALF = /\p{Cs}/u;
/** What programs write for a character that they could not read. */
const LOST = '\u{fffd}';
/** Zero-width and direction marks: two references that look the same would be two invoices. */
const INVISIBLE = /\p{Cf}/u;
/** UTF-8 that somebody read as windows-1252 before this file was written: `JoÃ£o`, `â‚¬`. */
const MISREAD =
  /\u00c3[\u00a0-\u00bf\u0192\u2021\u2030\u0160\u201c\u201d]|\u00e2\u20ac|\u00e2\u201a\u00ac|\u00c2[\u00a0-\u00bf]/;
/** What a spreadsheet shows instead of a value, in English, Portuguese and Spanish; `####` is a column too narrow, `Err:502` LibreOffice's. */
const SPREADSHEET_ERROR =
  /^#(?:\u00a1|\u00bf)?(?:REF|N\/A|N\/D|NAME|NOME|NOMBRE|VALUE|VALOR|DIV\/0|NUM|N\u00daM|\u00a1NUM|NULL|NULO|NULA|SPILL|CALC)[!?]?$|^#{3,}$|^Err:\d{3}$/i;
/** How programs write a text into a CSV file so that Excel keeps its zeros: nobody means the signs around it. */
const TEXT_AS_FORMULA = /^="(?:[^"]|"")*"$/;
/** Columns whose text must be exact: nobody reads them with their eyes. */
const EXACT: ReadonlySet<Column> = new Set(['invoice_ref', 'customer_tax_id', 'currency', 'tax_code']);

/** What can be wrong with the rows of one identity as rows: characters, rows that repeat, two JSON objects for one invoice. */
export function checkGroup(group: readonly RawRow[], conversion: Conversion, findings: CellFindings): void {
  for (const row of group) checkCharacters(row, findings);
  checkObjects(group, findings);
  if (conversion.duplicateRows === 'refuse') checkRepeats(group, findings);
}

function checkCharacters(row: RawRow, findings: CellFindings): void {
  row.cells.forEach((found, at) => {
    const column = COLUMNS[at];
    // A reference that is built of several columns has no cell of its own.
    const cell = found ?? (column === 'invoice_ref' ? row.ref : null);
    if (cell === null || column === undefined || PLAIN.test(cell)) return;
    checkErrors({ row: row.row, column, cell }, findings);
    checkDoubts({ row: row.row, column, cell }, findings);
  });
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
    findings.error(row, column, {
      code: isControl ? 'control-character' : 'invisible-character',
      message: `expected text, found the ${isControl ? 'control' : 'invisible'} character ${codeOf(control)}. Remove it`,
    });
  }
  const half = HALF.exec(cell)?.[0];
  if (half !== undefined) {
    findings.error(row, column, {
      code: 'control-character',
      message: `expected text, found ${codeOf(half)}, which is half of a character. Write the text again`,
    });
  }
  if (EXACT.has(column) && cell.includes(LOST)) {
    findings.error(row, column, {
      code: 'character-lost',
      message: `expected whole text, found ${shownCell(cell)}: U+FFFD stands for a character that was lost before this file was written, so that two different values may have become this one. Write the value again`,
    });
  }
  if (TEXT_AS_FORMULA.test(cell.trim())) {
    findings.error(row, column, {
      code: 'formula-as-text',
      message: `expected a value, found the formula ${shownCell(cell.trim())}, which a text file does not calculate. Write the text alone, without the equals sign and the quotes around it`,
    });
  }
  if (isSpreadsheetError(cell)) {
    findings.error(row, column, {
      code: 'spreadsheet-error',
      message: `expected a value, found ${shownCell(cell.trim())}, which a spreadsheet shows instead of one. Correct the formula or widen the column, and export again`,
    });
  }
}

/** True for what a spreadsheet shows instead of a value. */
export function isSpreadsheetError(cell: string): boolean {
  return SPREADSHEET_ERROR.test(cell.trim());
}

function checkDoubts({ row, column, cell }: Cell, findings: CellFindings): void {
  if (!EXACT.has(column) && cell.includes(LOST)) {
    findings.warning(row, column, {
      code: 'replacement-character',
      message:
        'found the character U+FFFD, which stands for one that was lost before this file was written; it is sent as it is',
    });
  }
  if (MISREAD.test(cell)) {
    findings.warning(row, column, {
      code: 'text-misread',
      message: `found ${shownCell(cell)}, which looks like UTF-8 that was read in another encoding before this file was written; it is sent as it is`,
    });
  }
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function checkObjects(group: readonly RawRow[], findings: CellFindings): void {
  const [first] = group;
  const other = group.find((row) => row.object !== first?.object);
  if (first === undefined || other === undefined) return;
  findings.error(other.row, 'invoice_ref', {
    code: 'identity-repeated',
    message: `expected one object for each invoice, found a second one of the same merchant and reference; the first begins with row ${first.row}. Merge them, or give one another reference`,
  });
}

function checkRepeats(group: readonly RawRow[], findings: CellFindings): void {
  if (group.length < 2) return;
  const seen = new Map<string, number>();
  for (const row of group) {
    const key = JSON.stringify([row.object, row.cells.map((cell) => cell?.trim() ?? '')]);
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, row.row);
    else
      findings.error(row.row, 'invoice_ref', {
        code: 'row-repeated',
        message: `expected each row once, found the same as row ${earlier}. Remove one, or keep both with --duplicate-rows keep`,
      });
  }
}
