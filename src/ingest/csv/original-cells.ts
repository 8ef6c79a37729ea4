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
import { isDoubtfulNumber, MOST_DECIMALS, readOriginal } from './original-text.ts';
import type { Original, OriginalCell, RowMarks } from './original-text.ts';
import { markFindings, marksLeft } from './row-marks.ts';

/** A number whose decimals end with a zero, such as `1234,00`. */
const WRITTEN_BY_HAND = /^[+-]?\d[\d., '’]*[.,]\d*0$/u;

/** How the number columns of a file were read. */
export interface NumberMarks {
  readonly marks: Readonly<Partial<Record<NumberColumn, DecimalMark>>>;
  /** Both marks occur: a cell that reads with both says nothing. */
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
    const number = mark === undefined ? null : numberIn(text, { mark, isDoubtful: doubtful.includes(column) });
    if (number === null) return [];
    const decimals = shown?.(at) ?? MOST_DECIMALS;
    const isRounded = (number.value.split('.')[1] ?? '').length > decimals;
    if (isRounded) return [[header, [text, number.value, decimals]]];
    return [[header, number.readings === null ? [text, number.value] : [text, ...number.readings]]];
  });
  return Object.fromEntries(entries);
}

/**
 * What a number cell says: with the mark of its column, or with the other one where the column has both. `readings`: with a point and with a comma, where
 * it says both and the column cannot decide.
 */
function numberIn(
  text: string,
  { mark, isDoubtful }: { readonly mark: DecimalMark; readonly isDoubtful: boolean },
): { readonly value: string; readonly readings: readonly [string, string] | null } | null {
  const point = readNumber(text, '.')?.value;
  const comma = readNumber(text, ',')?.value;
  const [own, other] = mark === '.' ? [point, comma] : [comma, point];
  const value = own ?? (isDoubtful ? other : undefined);
  if (value === undefined) return null;
  const isEither = isDoubtful && point !== undefined && comma !== undefined && point !== comma;
  return { value, readings: isEither ? [point, comma] : null };
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

/** A corrections file: the columns that are read, and the positions of all that are not Lote's. */
export interface ComparedTable {
  readonly read: readonly ReadColumn[];
  readonly author: readonly number[];
  /** Of a workbook: Lote wrote the cell of `lote_original` of its row into a workbook, and it was saved as no text since. */
  readonly wasNeverText: boolean;
}

/** Compares a row with its cell of `lote_original`. */
export function beforeSpreadsheet(
  { row, cells }: { readonly row: number; readonly cells: readonly string[] },
  table: ComparedTable,
  original: string,
): ComparedRow {
  const said = readOriginal(original);
  if (said === null) return { cells, errors: [notReadable(row)], kept: [], marks: null };
  const restored = [...cells];
  const errors: Finding[] = [];
  const kept: KeptNumber[] = [];
  for (const { at, header, column } of table.read) {
    const now = cells[at] ?? '';
    const before = Object.hasOwn(said.cells, header) ? said.cells[header] : undefined;
    if (before === undefined) continue;
    const isDoubtful = isDoubtfulNumber(before);
    if (isDoubtful && table.wasNeverText && said.marks.sheet === true) continue;
    if (isNumberColumn(column) && typeof before !== 'string' && !isDoubtful && before[0] === now.trim())
      kept.push({ column, cell: now, value: before[1] });
    const was = changedCell(before, now, { column, wasNeverText: table.wasNeverText });
    if (was === null) continue;
    restored[at] = was;
    errors.push(changed(row, header, { was, now: readTypedNumber(now.trim()) ?? now, isDoubtful }));
  }
  const marks = marksLeft(said.marks, { cells, ...table });
  return { cells: restored, errors: [...errors, ...markFindings(row, marks)], kept, marks };
}

/** The cell as it was, where a spreadsheet changed what it says; null: it says the same, or a person changed it. */
function changedCell(
  original: OriginalCell,
  now: string,
  { column, wasNeverText }: { readonly column: Column; readonly wasNeverText: boolean },
): string | null {
  const [was, value, shown] = typeof original === 'string' ? [original, null] : original;
  const typed = readTypedNumber(now.trim());
  if (typeof shown === 'string') return isDecided(was, typed ?? now) ? was : null;
  // A workbook keeps what its format rounds; in CSV only what is shown is left, also where it is a workbook again.
  const isExact = wasNeverText && typed !== null;
  if (!isExact && value !== null && shown !== undefined && isShownAs(value, shown, typed ?? now)) return was;
  if (!isSpreadsheetChange(was, typed ?? now)) return null;
  if (column === 'merchant_nif' && normalNif(now) === normalNif(was)) return null;
  if (value === null) return was;
  const marks = typed === null ? (['.', ','] as const) : (['.'] as const);
  const values = marks.flatMap((mark) => readNumber(typed ?? now, mark)?.value ?? []);
  return values.every((one) => one === value) ? null : was;
}

/** Whether a spreadsheet may have chosen one of the two numbers that a cell says. It writes no zeros behind the decimals, unless it shows a currency, too. */
function isDecided(was: string, now: string): boolean {
  return isSpreadsheetChange(was, now) && !WRITTEN_BY_HAND.test(now.trim());
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

function changed(
  row: number,
  label: string,
  { was, now, isDoubtful }: { readonly was: string; readonly now: string; readonly isDoubtful: boolean },
): Finding {
  const [before, found] = [shownCell(was), shownCell(now.trim())];
  const what = isDoubtful
    ? `${before}, which reads as two numbers; a spreadsheet chooses one by itself. Write the number that is meant with its decimal mark and a zero at the end, as a text editor does`
    : `${before}; a spreadsheet changes such a cell by itself. Write ${before} again and keep it, as a text editor does`;
  const message = `Row ${row}, ${label}: found ${found} where the file had ${what}, or empty ${ORIGINAL} in this row if ${found} is meant`;
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
