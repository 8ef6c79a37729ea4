import { COLUMNS } from '../domain/row.ts';
import type { RawRow } from '../domain/row.ts';
import type { CellFindings } from './cell-findings.ts';
import type { Conversion } from './ingest-result.ts';

/** Control characters but TAB, LF and CR. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** What can be wrong with the rows of one identity as rows: control characters, rows that repeat, two JSON objects for one invoice. */
export function checkGroup(group: readonly RawRow[], conversion: Conversion, findings: CellFindings): void {
  for (const row of group) checkCharacters(row, findings);
  checkObjects(group, findings);
  if (conversion.duplicateRows === 'refuse') checkRepeats(group, findings);
}

function checkCharacters(row: RawRow, findings: CellFindings): void {
  row.cells.forEach((cell, at) => {
    const column = COLUMNS[at];
    if (cell === null || column === undefined) return;
    const control = CONTROL.exec(cell)?.[0];
    if (control !== undefined) {
      const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      findings.error(row.row, column, {
        code: 'control-character',
        message: `expected text, found the control character U+${code}. Remove it`,
      });
    }
    if (cell.includes('\u{fffd}')) {
      findings.warning(row.row, column, {
        code: 'replacement-character',
        message:
          'found the character U+FFFD, which stands for one that was lost before this file was written; it is sent as it is',
      });
    }
  });
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
