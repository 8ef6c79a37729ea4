import type { Finding } from '../../domain/invoice.ts';
import { ORIGINAL } from '../../domain/read-as.ts';
import { isSpreadsheetChange } from '../../domain/text/spreadsheet-change.ts';
import type { ReadColumn } from '../ingest-result.ts';
import type { UnreadCell } from '../workbook/sheet-records.ts';
import { readTypedNumber } from '../workbook/typed-number.ts';
import { isDoubtfulNumber, isRounded } from './original-text.ts';
import type { Original, RowMarks } from './original-text.ts';
import { isStillShort } from './row-width.ts';

/** In whatever language a spreadsheet writes it. */
const ERROR_VALUE = /^(?:#|Err:)/u;

/** What a sheet shows of a row, and a text does not. */
export interface SheetRowState {
  readonly hidden: boolean;
  readonly merged: boolean;
  readonly unread: readonly UnreadCell[];
  /** Its cells as CSV holds them. */
  readonly inCsv: readonly string[];
}

/** The marks of a row of a sheet. */
export function sheetMarks({ hidden, merged, unread, inCsv }: SheetRowState, read: readonly ReadColumn[]): RowMarks {
  const cells = unread.flatMap(({ at, code }) => {
    const header = read.find((column) => column.at === at)?.header;
    return header === undefined ? [] : [[header, [code, inCsv[at] ?? '']] as const];
  });
  return {
    ...(hidden ? { hidden } : {}),
    ...(merged ? { merged } : {}),
    ...(cells.length === 0 ? {} : { unread: Object.fromEntries(cells) as RowMarks['unread'] }),
  };
}

/** The marks that hold as long as nobody corrects the row. A workbook that Lote marked shows itself what is wrong with its rows and cells. */
export function marksLeft({ cells: width, hidden, merged, unread, sheet }: RowMarks, given: MarkedRow): RowMarks {
  const { cells, author, wasNeverText } = given;
  const isShown = wasNeverText && sheet === true;
  const left = isShown ? [] : unreadLeft(unread ?? {}, sheet === true, given);
  return {
    ...(width !== undefined && isStillShort(width, cells, author) ? { cells: width } : {}),
    ...(hidden === true && !isShown ? { hidden } : {}),
    ...(merged === true && !isShown ? { merged } : {}),
    ...(left.length === 0 ? {} : { unread: Object.fromEntries(left) }),
  };
}

/** A row of corrections, and the columns of its file. */
interface MarkedRow {
  readonly cells: readonly string[];
  readonly read: readonly ReadColumn[];
  readonly author: readonly number[];
  readonly wasNeverText: boolean;
}

/** Cells that nobody has written anew. `wasSheet`: of a workbook that was saved as text, in which nobody knows how it showed them. */
function unreadLeft(
  unread: NonNullable<RowMarks['unread']>,
  wasSheet: boolean,
  { cells, read }: MarkedRow,
): readonly (readonly [string, [string, string]])[] {
  return Object.entries(unread).flatMap(([header, [code, text]]) => {
    const column = read.find((one) => one.header === header);
    if (column === undefined) return [[header, [code, text]] as const];
    const now = cells[column.at]?.trim() ?? '';
    if (wasSheet) return [[header, [code, now]] as const];
    const isSame =
      now === text.trim() ||
      isSpreadsheetChange(text, readTypedNumber(now) ?? now) ||
      (ERROR_VALUE.test(text) && ERROR_VALUE.test(now));
    return isSame ? [[header, [code, text]] as const] : [];
  });
}

/** What was said of a row before, and what its sheet shows now. */
export function joinedMarks(before: RowMarks, now: RowMarks): RowMarks {
  const unread = { ...before.unread, ...now.unread };
  return { ...before, ...now, ...(Object.keys(unread).length === 0 ? {} : { unread }) };
}

/** What marks say of a row, but for its number of cells. */
export function markFindings(row: number, { hidden, merged, unread = {} }: RowMarks): readonly Finding[] {
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
  for (const [header, [code]] of Object.entries(unread)) {
    const message = `Row ${row}, ${header}: the workbook had no usable value in this cell (${ORIGINAL}). Write it as it is meant to be sent; if it is right as it is, empty ${ORIGINAL} in this row`;
    findings.push({ row, column: header, code, message, severity: 'error' });
  }
  return findings;
}

/** A row of a workbook. */
export interface ShownRow {
  /** What the workbook shows of it. */
  readonly now: RowMarks;
  /** What is said of it was written into a workbook, and saved as no text since. */
  readonly wasNeverText: boolean;
}

/**
 * What a row of a workbook has in `lote_original`: of itself it says what is hidden and merged, until it is saved as text. Where it was, `saidByText` holds of
 * what is still said.
 */
export function originalInSheet(
  { cells, marks }: Original,
  { now, wasNeverText }: ShownRow,
): Original & { readonly saidByText: boolean } {
  const isDoubtful = Object.values(cells).some(isDoubtfulNumber);
  const isSaid = Object.keys(marks).length > 0 || isDoubtful || (!wasNeverText && Object.values(cells).some(isRounded));
  if (isSaid && !(wasNeverText && marks.sheet === true))
    return { cells, marks: joinedMarks(marks, now), saidByText: true };
  const marksNow: RowMarks = isDoubtful || Object.keys(now).length > 0 ? { ...now, sheet: true } : {};
  return { cells, marks: marksNow, saidByText: false };
}
