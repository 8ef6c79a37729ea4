import { Big } from 'big.js';
import type { Finding } from '../../domain/invoice.ts';
import { ORIGINAL } from '../../domain/read-as.ts';
import type { Column } from '../../domain/row.ts';
import { isSpreadsheetChange, mayChange } from '../../domain/text/spreadsheet-change.ts';
import { shownCell } from '../invoice/cell-findings.ts';
import { damagedReference, isDamagedTaxId, nifProblem, normalNif } from '../invoice/identity.ts';
import { NUMBER_COLUMNS } from '../ingest-result.ts';
import type { NumberColumn, ReadColumn } from '../ingest-result.ts';
import { readNumber } from '../invoice/read-number.ts';
import type { DecimalMark } from '../invoice/read-number.ts';
import { readTypedNumber } from '../workbook/typed-number.ts';
import { MOST_DECIMALS, readOriginal } from './original-text.ts';
import type { Original, OriginalCell, RowMarks } from './original-text.ts';
import { isStillShort } from './row-width.ts';

/** How the number columns of a file were read. */
export interface NumberMarks {
  readonly marks: Readonly<Partial<Record<NumberColumn, DecimalMark>>>;
  /** Both marks occur: a cell that reads with both is not compared. */
  readonly doubtful: readonly NumberColumn[];
}

/** What is known of the numbers of a row. */
interface KnownNumbers extends NumberMarks {
  /** Most decimals that a sheet shows of the number at this position; null: all. */
  readonly shown?: (position: number) => number | null;
}

/** The cells of a row that some spreadsheet may change. */
export function originalCells(
  cells: readonly string[],
  columns: readonly ReadColumn[],
  { marks, doubtful, shown }: KnownNumbers,
): Original['cells'] {
  const entries = columns.flatMap(({ at, header, column }): [string, OriginalCell][] => {
    const text = cells[at]?.trim() ?? '';
    if (!mayChange(text) || isDamaged(column, text)) return [];
    if (!isNumberColumn(column)) return [[header, text]];
    const mark = marks[column];
    const value = mark === undefined ? undefined : readNumber(text, mark)?.value;
    if (value === undefined || (doubtful.includes(column) && otherValue(text, value) !== null)) return [];
    const decimals = shown?.(at) ?? MOST_DECIMALS;
    const isRounded = (value.split('.')[1] ?? '').length > decimals;
    return [[header, isRounded ? [text, value, decimals] : [text, value]]];
  });
  return Object.fromEntries(entries);
}

/** A number of corrections that stands there as in the dropped file, and the decimal that was read in it then. */
export interface KeptNumber {
  readonly column: NumberColumn;
  readonly cell: string;
  readonly value: string;
}

/** A row of corrections, compared with what is said of the dropped file. */
interface ComparedRow {
  /** As they were before a spreadsheet changed some. */
  readonly cells: readonly string[];
  readonly errors: readonly Finding[];
  readonly kept: readonly KeptNumber[];
  /** What is still to be said of the row; null: nobody can read what was said. */
  readonly marks: RowMarks | null;
}

/** The columns of a corrections file: those that are read, and the positions of all that are not Lote's. */
interface ComparedColumns {
  readonly read: readonly ReadColumn[];
  readonly author: readonly number[];
}

/** Compares a row with its cell of `lote_original`. */
export function beforeSpreadsheet(
  { row, cells }: { readonly row: number; readonly cells: readonly string[] },
  { read, author }: ComparedColumns,
  original: string,
): ComparedRow {
  const said = readOriginal(original);
  if (said === null) return { cells, errors: [notReadable(row)], kept: [], marks: null };
  const restored = [...cells];
  const errors: Finding[] = [];
  const kept: KeptNumber[] = [];
  for (const { at, header, column } of read) {
    const now = cells[at] ?? '';
    const before = Object.hasOwn(said.cells, header) ? said.cells[header] : undefined;
    if (isNumberColumn(column) && Array.isArray(before) && before[0] === now.trim())
      kept.push({ column, cell: now, value: before[1] });
    const was = changedCell(before, now, column);
    if (was === null) continue;
    restored[at] = was;
    errors.push(changed(row, header, { was, now }));
  }
  return { cells: restored, errors, kept, marks: marksLeft(said.marks, cells, author) };
}

/** Those that hold as long as nobody corrects the row. */
function marksLeft(
  { cells: width, ...marks }: RowMarks,
  cells: readonly string[],
  author: readonly number[],
): RowMarks {
  return width !== undefined && isStillShort(width, cells, author) ? { ...marks, cells: width } : marks;
}

/** What else a cell says that reads with both marks; null: nothing. */
function otherValue(text: string, value: string): string | null {
  const values = (['.', ','] as const).map((mark) => readNumber(text, mark)?.value);
  return values.find((read) => read !== undefined && read !== value) ?? null;
}

/** The cell as it was, where a spreadsheet changed what it says; null: it says the same, or a person changed it. */
function changedCell(original: OriginalCell | undefined, now: string, column: Column): string | null {
  if (original === undefined) return null;
  const [was, value, shown] = typeof original === 'string' ? [original, null] : original;
  const typed = readTypedNumber(now.trim());
  // A workbook keeps what its format rounds; in CSV only what is shown is left.
  if (typed === null && value !== null && shown !== undefined && isShownAs(value, shown, now)) return was;
  if (!isSpreadsheetChange(was, typed ?? now)) return null;
  if (column === 'merchant_nif' && normalNif(now) === normalNif(was)) return null;
  if (value === null) return was;
  const marks = typed === null ? (['.', ','] as const) : (['.'] as const);
  const values = marks.flatMap((mark) => readNumber(typed ?? now, mark)?.value ?? []);
  return values.every((one) => one === value) ? null : was;
}

function isShownAs(value: string, decimals: number, now: string): boolean {
  const exact = new Big(value);
  return (['.', ','] as const).some((mark) => {
    const read = readNumber(now, mark)?.value;
    return (
      read !== undefined && [Big.roundHalfUp, Big.roundHalfEven].some((how) => exact.round(decimals, how).eq(read))
    );
  });
}

function changed(row: number, label: string, { was, now }: { readonly was: string; readonly now: string }): Finding {
  const message = `Row ${row}, ${label}: found ${shownCell(now.trim())} where the file had ${shownCell(was)}; a spreadsheet changes such a cell by itself. Write ${shownCell(was)} again and keep it, as a text editor does, or empty ${ORIGINAL} in this row if ${shownCell(now.trim())} is meant`;
  return { row, column: label, code: 'cell-changed', message, severity: 'error' };
}

function notReadable(row: number): Finding {
  const message = `Row ${row}, ${ORIGINAL}: expected what Lote wrote there, or an empty cell. Copy it from the corrections file again, or empty it after you have compared the row with the dropped file`;
  return { row, column: ORIGINAL, code: 'corrections-damaged', message, severity: 'error' };
}

/** A person has to write these anew, most often in the very form that a spreadsheet has changed. */
function isDamaged(column: Column, text: string): boolean {
  if (column === 'invoice_ref') return damagedReference(text) !== null;
  if (column === 'customer_tax_id') return isDamagedTaxId(text);
  return column === 'merchant_nif' && nifProblem(text) !== null;
}

function isNumberColumn(column: Column): column is NumberColumn {
  return NUMBER_COLUMNS.some((name) => name === column);
}
