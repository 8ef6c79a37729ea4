import { ORIGINAL } from '../../domain/read-as.ts';
import type { Finding } from '../../domain/invoice.ts';
import { isDoubtfulNumber } from './original-text.ts';
import type { Original, RowMarks } from './original-text.ts';
import { isStillShort } from './row-width.ts';

/** The marks that hold as long as nobody corrects the row. A workbook that Lote marked shows itself what is hidden and merged. */
export function marksLeft(
  { cells: width, hidden, merged, sheet }: RowMarks,
  cells: readonly string[],
  { author, isSheet }: { readonly author: readonly number[]; readonly isSheet: boolean },
): RowMarks {
  const isShown = isSheet && sheet === true;
  return {
    ...(width !== undefined && isStillShort(width, cells, author) ? { cells: width } : {}),
    ...(hidden === true && !isShown ? { hidden } : {}),
    ...(merged === true && !isShown ? { merged } : {}),
  };
}

/** What marks say of a row, but for its number of cells. */
export function markFindings(row: number, { hidden, merged }: RowMarks): readonly Finding[] {
  const findings: Finding[] = [];
  const add = (code: string, message: string) =>
    findings.push({ row, column: null, code, message: `Row ${row}: ${message}`, severity: 'error' });
  if (hidden === true)
    add(
      'row-hidden',
      `the row was hidden in the workbook (${ORIGINAL}), so nobody who looked at the sheet saw that it would be sent. Delete the row, or empty ${ORIGINAL} in it if it shall be sent`,
    );
  if (merged === true)
    add(
      'cell-merged',
      `a cell of the row was merged with others in the workbook (${ORIGINAL}), and a value for several rows or columns proves nothing about each. Fill in each cell, and empty ${ORIGINAL} in this row`,
    );
  return findings;
}

/** What a row of a workbook has in `lote_original`: of itself it says what is hidden and merged, until it is saved as text. `now`: of the row as the workbook has it. */
export function originalInSheet({ cells, marks }: Original, now: RowMarks): Original {
  const isDoubtful = Object.values(cells).some(isDoubtfulNumber);
  const saidByText = marks.sheet !== true && (Object.keys(marks).length > 0 || isDoubtful);
  if (saidByText) return { cells, marks: { ...marks, ...now } };
  return { cells, marks: isDoubtful || Object.keys(now).length > 0 ? { ...now, sheet: true } : {} };
}
