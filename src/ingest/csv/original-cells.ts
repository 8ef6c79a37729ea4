import { z } from 'zod';
import type { Finding } from '../../domain/invoice.ts';
import { ORIGINAL } from '../../domain/read-as.ts';
import type { Column } from '../../domain/row.ts';
import { rowError, shownCell } from '../findings.ts';
import { NUMBER_COLUMNS, type NumberColumn, type ReadColumn } from '../ingest-result.ts';
import { damagedReference, isDamagedTaxId, nifProblem, normalNif } from '../invoice/identity.ts';
import { readNumber, readTypedNumber, type DecimalMark } from '../invoice/read-number.ts';
import { CUT_CELL } from './table-header.ts';
import { Big } from 'big.js';
import { canonicalDecimal } from '../../domain/money.ts';

/** Code of a row with another number of cells than the header. */
export const WRONG_WIDTH = 'cell-count';

/** Original cells by header. A number has the decimal that Lote read, because its mark may change, too. */
const OriginalCells = z.record(z.string(), z.union([z.string(), z.tuple([z.string(), z.string()])]));
/** Faults of a row that its cells do not show: a code, and the header of the cell, or '' for the whole row. */
const RowMarks = z.array(z.tuple([z.enum([WRONG_WIDTH, CUT_CELL]), z.string()])).readonly();
const Original = z.union([
  OriginalCells.transform((cells) => ({ cells, marks: [] })),
  z.tuple([OriginalCells, RowMarks]).transform(([cells, marks]) => ({ cells, marks })),
]);

type OriginalCell = z.infer<typeof OriginalCells>[string];
/** Faults of a row that its cells do not show. */
export type RowMarks = z.infer<typeof RowMarks>;

type Original = z.infer<typeof Original>;

/** Reads what `originalAsText` wrote; null if a person or a later version of Lote wrote the text. */
function readOriginal(text: string): Original | null {
  if (text.trim() === '') return { cells: {}, marks: [] };
  try {
    return Original.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Returns the text for a cell of `lote_original`, or '' if there is nothing to record. */
export function originalAsText({ cells, marks }: Original): string {
  if (marks.length > 0) return JSON.stringify([cells, marks]);
  return Object.keys(cells).length === 0 ? '' : JSON.stringify(cells);
}

/** Returns the cells of a row that some spreadsheet may change. `mark` is null if the file was not read as rows. */
export function originalCells(
  cells: readonly string[],
  columns: readonly ReadColumn[],
  mark: DecimalMark | null,
): Original['cells'] {
  const entries = columns.flatMap(({ at, header, column }): [string, OriginalCell][] => {
    const text = cells[at]?.trim() ?? '';
    if (!mayChange(text) || isDamaged(column, text)) return [];
    if (!isNumberColumn(column)) return [[header, text]];
    const value = mark === null ? undefined : readNumber(text, mark)?.value;
    return value === undefined ? [] : [[header, [text, value]]];
  });
  return Object.fromEntries(entries);
}

interface KeptNumber {
  readonly column: NumberColumn;
  readonly cell: string;
  readonly value: string;
}

interface ComparedRow {
  readonly cells: readonly string[];
  readonly errors: readonly Finding[];
  readonly kept: readonly KeptNumber[];
  /** Faults of the row that still apply. Null if `lote_original` is unreadable. */
  readonly marks: RowMarks | null;
}

/** Compares a row with its cell of `lote_original`. */
export function beforeSpreadsheet(
  { row, cells }: { readonly row: number; readonly cells: readonly string[] },
  read: readonly ReadColumn[],
  original: string,
): ComparedRow {
  const said = readOriginal(original);
  if (said === null) {
    const message = `expected what Lote wrote there, or an empty cell. Copy it from the corrections file again, or empty it after you have compared the row with the dropped file`;
    return { cells, errors: [rowError(row, ORIGINAL, 'corrections-damaged', message)], kept: [], marks: null };
  }
  const restored = [...cells];
  const errors: Finding[] = [];
  const kept: KeptNumber[] = [];
  for (const { at, header, column } of read) {
    const now = cells[at] ?? '';
    const before = Object.hasOwn(said.cells, header) ? said.cells[header] : undefined;
    if (before === undefined) continue;
    if (isNumberColumn(column) && typeof before !== 'string' && before[0] === now.trim())
      kept.push({ column, cell: now, value: before[1] });
    const was = changedCell(before, now, column);
    if (was === null) continue;
    restored[at] = was;
    errors.push(changed(row, header, { was, now: readTypedNumber(now.trim()) ?? now }));
  }
  const cut = said.marks.filter(([code]) => code === CUT_CELL).map(([, header]) => wasCut(row, header));
  return { cells: restored, errors: [...errors, ...cut], kept, marks: said.marks };
}

/** Returns the original cell if a spreadsheet changed its value; null if a person changed it or it is the same. */
function changedCell(original: OriginalCell, now: string, column: Column): string | null {
  const [was, value] = typeof original === 'string' ? [original, null] : original;
  const typed = readTypedNumber(now.trim());
  if (!isSpreadsheetChange(was, typed ?? now)) return null;
  if (column === 'merchant_nif' && normalNif(now) === normalNif(was)) return null;
  if (value === null) return was;
  const marks = typed === null ? (['.', ','] as const) : (['.'] as const);
  const values = marks.flatMap((mark) => readNumber(typed ?? now, mark)?.value ?? []);
  return values.every((one) => one === value) ? null : was;
}

function changed(row: number, label: string, { was, now }: { readonly was: string; readonly now: string }): Finding {
  const [before, found] = [shownCell(was), shownCell(now.trim())];
  const message = `found ${found} where the file had ${before}; a spreadsheet changes such a cell by itself. Write ${before} again and keep it, as a text editor does, or empty ${ORIGINAL} in this row if ${found} is meant`;
  return rowError(row, label, 'cell-changed', message);
}

function wasCut(row: number, header: string): Finding {
  const message = `the dropped file ended in this cell without a line end, so that the value may have lost its last digits (${ORIGINAL}). Write it as it is meant to be sent, and empty ${ORIGINAL} in this row`;
  return rowError(row, header, CUT_CELL, message);
}

/** A person must rewrite these cells, most often in the very form that a spreadsheet changed. */
function isDamaged(column: Column, text: string): boolean {
  if (column === 'invoice_ref') return damagedReference(text) !== null;
  if (column === 'customer_tax_id') return isDamagedTaxId(text);
  return column === 'merchant_nif' && nifProblem(text) !== null;
}

function isNumberColumn(column: Column): column is NumberColumn {
  return NUMBER_COLUMNS.some((name) => name === column);
}

/** No number, date or truth value is longer, and a hostile cell must take no time. */
const LONGEST = 60;
const NUMBER =
  /^(?<sign>[+-])? ?(?:R\$|[€$£¥]|EUR|USD|GBP|BRL)? ?(?<inner>[+-])?(?<digits>\d[\d., '’]*|[.,]\d+)(?:E(?<power>[+-]?\d{1,3}))? ?(?<percent>%)? ?(?:[€$£¥]|EUR|USD|GBP|BRL)?(?<behind>-)?$/iu;
/** A spreadsheet keeps no more digits than this. */
const KEPT_DIGITS = 15;
/** A spreadsheet shows this many digits of a number in a column without a format. */
const SHOWN_DIGITS = 9;
/** A spreadsheet does not change whole numbers without a leading zero that it shows in full. */
const STAYS = /^(?:0|[1-9]\d{0,10})$/;
/** Month names in the languages whose spreadsheets Lote expects. */
const MONTH = /(?:jan|ene|feb|fev|mar|apr|abr|may|mai|jun|jul|aug|ago|sep|set|oct|out|nov|dec|dez|dic)\p{L}*/giu;
const DATE = /^\d{1,4}(?:[-/. :]{1,2}\d{1,4}){1,5}$/;
/** The day number of a date since 1954, which remains when the date format is removed. */
const DAY_NUMBER = /^[2-6]\d{4}(?:[.,]0+)?$/;
const TRUTH = new Map([
  ...['true', 'verdadeiro', 'verdadero'].map((word): [string, boolean] => [word, true]),
  ...['false', 'falso'].map((word): [string, boolean] => [word, false]),
]);

/** True if some spreadsheet, in some language, takes this text of a CSV file for another type and may save it differently. */
export function mayChange(cell: string): boolean {
  const text = cell.trim();
  if (text === '' || text.length > LONGEST || STAYS.test(text)) return false;
  if (!/\d/u.test(text)) return TRUTH.has(text.toLowerCase());
  return numbersIn(text).length > 0 || isDate(text);
}

/**
 * True if a spreadsheet that saves a CSV file may have turned `was` into `now`: the same number written differently
 * (`00012` and `12`, `1E5` and `100000`, `12,50` and `1250`), the same truth value, or any text in place of a date,
 * which has too many spellings to compare. False for equal texts and changes that only a person makes.
 */
export function isSpreadsheetChange(was: string, now: string): boolean {
  const [before, after] = [was.trim(), now.trim()];
  if (before === after || after === '' || before.length > LONGEST || after.length > LONGEST) return false;
  if (isSameNumber(before, after)) return true;
  if (isDate(before)) return [before, after].some((text) => numbersIn(text).length === 0) || DAY_NUMBER.test(after);
  const truth = TRUTH.get(before.toLowerCase());
  return truth !== undefined && truth === TRUTH.get(after.toLowerCase());
}

function isDate(text: string): boolean {
  return DATE.test(text.replaceAll(MONTH, '1'));
}

/** Returns every number that a spreadsheet of some language may read in a cell, as canonical decimals. */
function numbersIn(text: string): readonly string[] {
  const isNegative = /^\(.*\)$/u.test(text);
  const match = NUMBER.exec(isNegative ? text.slice(1, -1) : text);
  if (match?.groups === undefined) return [];
  const { sign, inner, digits = '', power, percent, behind } = match.groups;
  const factor = isNegative || [sign, inner, behind].includes('-') ? -1 : 1;
  const values = readings(digits).map((decimal) =>
    new Big(decimal).times(factor).times(new Big(10).pow(Number(power ?? 0))),
  );
  const all = percent === undefined ? values : values.flatMap((value) => [value, value.div(100)]);
  return [...new Set(all.map((value) => value.toFixed()))];
}

/** Reads the digits with each mark as decimal mark, and with none. */
function readings(digits: string): readonly string[] {
  const marks = ['.', ','].filter((mark) => digits.split(mark).length === 2);
  const texts = [
    digits.replaceAll(/\D/gu, ''),
    ...marks
      .map((mark) => digits.split(mark).map((part) => part.replaceAll(/\D/gu, '') || '0'))
      .map((parts) => parts.join('.')),
  ];
  return texts.flatMap((text) => canonicalDecimal(text) ?? []);
}

function isSameNumber(was: string, now: string): boolean {
  const after = numbersIn(now);
  if (after.length === 0) return false;
  const isShortened = /\dE[+-]?\d+$/iu.test(now);
  return numbersIn(was).some((one) => after.some((other) => one === other || isRounded(one, other, isShortened)));
}

/** Long numbers lose their last digits: `123456789012345678` becomes `123456789012345000`, or `1.23457E+17`. */
function isRounded(was: string, now: string, isShortened: boolean): boolean {
  const [digits, left] = [significant(was), significant(now)];
  if (left >= digits || left === 0) return false;
  if (!isShortened && (digits <= KEPT_DIGITS - 5 || left < SHOWN_DIGITS)) return false;
  const value = new Big(was);
  return [Big.roundHalfUp, Big.roundDown].some((how) => value.prec(left, how).eq(now));
}

function significant(decimal: string): number {
  return decimal.replaceAll(/^-?0*\.?0*|\./gu, '').replace(decimal.includes('.') ? '' : /0+$/u, '').length;
}
