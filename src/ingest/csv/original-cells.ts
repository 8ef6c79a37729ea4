import { Big } from 'big.js';
import { z } from 'zod';
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

/** No format shows more. */
const MOST_DECIMALS = 30;

/**
 * By the header of its column. A number also with the decimal that was read in it, because its mark may change, too; one of a sheet with the decimals
 * that its format shows of it, where they are fewer.
 */
const OriginalCells = z.record(
  z.string(),
  z.union([
    z.string(),
    z.tuple([z.string(), z.string()]),
    z.tuple([z.string(), z.string(), z.int().min(0).max(MOST_DECIMALS)]),
  ]),
);

type OriginalCells = z.infer<typeof OriginalCells>;

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

/** The text of the column for one row; empty where no spreadsheet changes a cell of it. */
export function originalText(
  cells: readonly string[],
  columns: readonly ReadColumn[],
  { marks, doubtful, shown }: KnownNumbers,
): string {
  const entries = columns.flatMap(({ at, header, column }): [string, OriginalCells[string]][] => {
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
  return entries.length === 0 ? '' : JSON.stringify(Object.fromEntries(entries));
}

/** A number of corrections that stands there as in the dropped file, and the decimal that was read in it then. */
export interface KeptNumber {
  readonly column: NumberColumn;
  readonly cell: string;
  readonly value: string;
}

/** The cells of a row of corrections as they were before a spreadsheet changed some, what is wrong with those, and the numbers that nobody changed. */
export function beforeSpreadsheet(
  { row, cells }: { readonly row: number; readonly cells: readonly string[] },
  columns: readonly ReadColumn[],
  original: string,
): { readonly cells: readonly string[]; readonly errors: readonly Finding[]; readonly kept: readonly KeptNumber[] } {
  if (original.trim() === '') return { cells, errors: [], kept: [] };
  const said = originalCells(original);
  if (said === null) return { cells, errors: [notReadable(row)], kept: [] };
  const restored = [...cells];
  const errors: Finding[] = [];
  const kept: KeptNumber[] = [];
  for (const { at, header, column } of columns) {
    const now = cells[at] ?? '';
    const before = Object.hasOwn(said, header) ? said[header] : undefined;
    if (isNumberColumn(column) && Array.isArray(before) && before[0] === now.trim())
      kept.push({ column, cell: now, value: before[1] });
    const was = changedCell(before, now, column);
    if (was === null) continue;
    restored[at] = was;
    errors.push(changed(row, header, { was, now }));
  }
  return { cells: restored, errors, kept };
}

/** What else a cell says that reads with both marks; null: nothing. */
function otherValue(text: string, value: string): string | null {
  const values = (['.', ','] as const).map((mark) => readNumber(text, mark)?.value);
  return values.find((read) => read !== undefined && read !== value) ?? null;
}

function originalCells(text: string): OriginalCells | null {
  try {
    return OriginalCells.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** The cell as it was, where a spreadsheet changed what it says; null: it says the same, or a person changed it. */
function changedCell(original: OriginalCells[string] | undefined, now: string, column: Column): string | null {
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
