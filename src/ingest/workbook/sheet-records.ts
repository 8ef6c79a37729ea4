import { FIELDS, type CellRole, type Finding } from '../../domain/invoice.ts';
import { READ_AS_FORMAT } from '../../domain/read-as.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import { widthOf, type TableHeader } from '../profile/map-header.ts';
import { labelOf } from '../csv/table-header.ts';
import { rowError, type FindingList, shownCell } from '../findings.ts';
import type { Dialect } from '../ingest-result.ts';
import { parseNumberFormat, GENERAL, type NumberFormat, type ShownDigits } from './number-format.ts';
import { openWorkbook } from './open-workbook.ts';
import { shownCells, type SheetCell, type SheetRow, type SheetRows } from './workbook.ts';
import { Big } from 'big.js';
import { canonicalDecimal } from '../../domain/money.ts';
import { hasValidChecksum } from '../invoice/identity.ts';
import { LONGEST_NUMBER, expandExponent, readTypedNumber, typedNumber } from '../invoice/read-number.ts';

/** Turns the rows of a sheet into records like those of a CSV file, and collects findings about their cells. */
export class SheetRecords {
  readonly formulas: { count: number; first: string | null } = { count: 0, first: null };
  readonly #chosen: TableHeader;
  readonly #width: number;
  readonly #columns: readonly ({ readonly column: Column; readonly role: CellRole } | undefined)[];
  readonly #recalculates: boolean;
  readonly #findings: FindingList;

  constructor(given: { chosen: TableHeader; recalculates: boolean; findings: FindingList }) {
    this.#chosen = given.chosen;
    this.#recalculates = given.recalculates;
    this.#findings = given.findings;
    const { map, header } = given.chosen;
    this.#width = widthOf(header.cells);
    this.#columns = header.cells.map((_, at) => {
      const column = COLUMNS[map.indexes.indexOf(at)];
      const role = column && (FIELDS[column].role ?? 'text');
      const isPart = map.referenceParts.includes(at);
      if (column && role && !(isPart && role === 'text')) return { column, role };
      return isPart ? { column: 'invoice_ref', role: 'reference' } : undefined;
    });
  }

  isRead(position: number): boolean {
    return this.#columns[position] !== undefined;
  }

  record(row: SheetRow): CsvRecord {
    const { header } = this.#chosen;
    if (row.row <= header.row) return { row: row.row, cells: shownCells(row) };
    const wrong: Wrong = { errors: [], unusable: [] };
    const values = Array.from({ length: this.#width }, (_, at) => this.#value(row, at, wrong));
    if (row.hidden) wrong.errors.push(rowError(row.row, null, 'row-hidden', HIDDEN));
    // Cells beyond the header belong to no column and make the row too wide.
    const beyond = shownCells(row).slice(this.#width);
    return {
      row: row.row,
      cells: [...values.map(({ text }) => text), ...beyond],
      wasText: !isAsWritten(row.cells[this.#chosen.map.readAs]),
      ...(wrong.errors.length === 0 ? {} : wrong),
    };
  }

  #value(row: SheetRow, at: number, wrong: Wrong): CellValue {
    const known = this.#columns[at];
    const cell = row.cells[at];
    const value = cellValue(cell, known?.role ?? 'text');
    if (cell === undefined || known === undefined) return value;
    const label = labelOf(this.#chosen, known.column);
    if (cell.formula) this.formulas.count += 1;
    if (cell.formula) this.formulas.first ??= `row ${row.row}, ${label}`;
    const isStale = cell.formula && this.#recalculates && cell.kind !== 'missing';
    const note = isStale ? NOT_CALCULATED : value.note;
    if (note === undefined) return value;
    const finding: Finding = { ...rowError(row.row, label, note.code, note.message), severity: note.severity };
    if (note.severity === 'warning') this.#findings.add(finding);
    else {
      wrong.errors.push(finding);
      wrong.unusable.push(known.column);
    }
    return value;
  }
}

interface Wrong {
  readonly errors: Finding[];
  readonly unusable: Column[];
}

const NOT_CALCULATED = {
  code: 'formula-not-calculated',
  message:
    'found a formula, and the program that wrote the file asks to have its value calculated again. Open the file in a spreadsheet program and save it again',
  severity: 'error',
} as const;

const HIDDEN =
  'the row is hidden, so a person who looks at the sheet does not see that it would be sent. Show the row, or delete it';

/** The parsed format, because ODS writes it in another way than XLSX. */
const WRITTEN = parseNumberFormat(READ_AS_FORMAT);

/** A cell of `lote_read_as` loses the format that Lote gave it if the workbook was saved as text. */
function isAsWritten(cell: SheetCell | undefined): boolean {
  const format = cell?.format ?? null;
  return (
    format !== null &&
    format.kind === WRITTEN.kind &&
    format.digits?.decimals === WRITTEN.digits?.decimals &&
    format.digits?.leastDigits === WRITTEN.digits?.leastDigits
  );
}

interface ReadSheetRow {
  readonly row: SheetRow;
  /** The merged ranges of the whole sheet; complete only after its last row. */
  readonly merged: SheetRows['merged'];
  /** The program asks to calculate all formulas again: saved values are not reliable. */
  readonly recalculates: boolean;
}

/** Reads the rows below the header again; the caller compares hashes. @throws LoteError `file-unreadable`; Refusal */
export async function* readSheetRows(
  path: string,
  { sheet, headerRow }: Pick<Dialect, 'sheet' | 'headerRow'>,
): AsyncGenerator<ReadSheetRow> {
  const workbook = await openWorkbook(path);
  try {
    const found = workbook.sheets.find(({ name }) => name === sheet?.name);
    if (found === undefined) return;
    const { recalculates } = workbook;
    const { portions, merged } = workbook.rows(found);
    for await (const portion of portions)
      for (const row of portion) if (row.row > (headerRow ?? 0)) yield { row, merged, recalculates };
  } finally {
    workbook.close();
  }
}

/** The text of a cell for a row, and a finding about the cell. */
export interface CellValue {
  readonly text: string;
  readonly note?: { readonly code: string; readonly message: string; readonly severity: 'error' | 'warning' };
}

/** Spreadsheets keep no more digits of a number. */
const MOST_DIGITS = 15;
/** A format that fills in more zeros is only for display, because no reference has so many digits. */
const MOST_FILLED_DIGITS = 20;
const AS_TEXT = 'Format the column as text and enter it again';

/** Returns the value of a cell in a column of this role. A value that Lote cannot prove is an error, never a guess. */
export function cellValue(cell: SheetCell | undefined, role: CellRole): CellValue {
  if (cell === undefined) return { text: '' };
  switch (cell.kind) {
    case 'number':
      return numberValue(cell, role);
    case 'missing': {
      const message = 'found a formula without a value. Open the file in a spreadsheet program and save it again';
      return wrong('', 'formula-without-value', message);
    }
    case 'error': {
      const message = `expected a value, found the error ${cell.text.slice(0, 40)}. Correct the formula`;
      return wrong(cell.text, 'spreadsheet-error', message);
    }
    case 'date':
      return dateValue(cell.text, role);
    case 'boolean':
      return { text: cell.text };
    case 'text':
      // A text must not look like an encoded number.
      return { text: readTypedNumber(cell.text) === null ? cell.text : cell.text.replace('e-', 'E-') };
  }
}

function dateValue(text: string, role: CellRole): CellValue {
  const found = text.slice(0, 40);
  if (role === 'number') return { text };
  if (role === 'text') {
    const message = `found a date, which every reader sees in another way; it is sent as ${found}`;
    return doubtful(text, 'date-as-text', message);
  }
  const [code, expected] =
    role === 'reference' ? ['reference-damaged', 'a reference'] : ['tax-number-damaged', 'a tax number'];
  const message = `expected ${expected}, found the date or time ${found}. ${AS_TEXT}`;
  return wrong(text, code, message);
}

function numberValue(cell: SheetCell, role: CellRole): CellValue {
  const format = cell.format ?? GENERAL;
  const exact = exactNumber(cell.text, format.digits?.decimals ?? null);
  if (!exact.ok) return notExact(cell.text, exact);
  if (format.kind === 'percent' && role !== 'number') {
    const percent = canonicalDecimal(expandExponent(`${exact.value}e2`) ?? '') ?? exact.value;
    const text = `${percent}%`;
    return role === 'text' ? { text } : damagedNumber(text);
  }
  const digits = shownWith(format, exact.value);
  const isPlain = digits !== null && (role === 'number' || isBare(digits));
  if (!isPlain) return shownOtherwise(exact.value, format);
  if (role === 'number') return amount(exact.value, digits, exact.cleaned);
  if (role === 'tax-number') return taxNumber(digits, exact.value);
  if (role === 'text') return { text: exact.value };
  return reference(digits, exact.value);
}

/** Returns true for digits alone, which may be a reference or a tax number. */
function isBare({ currency, isSpaced, leastDigits }: ShownDigits): boolean {
  return currency === null && !isSpaced && leastDigits <= MOST_FILLED_DIGITS;
}

/** Returns how the format shows this number, or null if not by its own digits. */
function shownWith({ digits, ofNegative, ofZero }: NumberFormat, value: string): ShownDigits | null {
  const isNegative = value.startsWith('-');
  const isZero = !/[1-9]/.test(value);
  const shown = isNegative ? ofNegative : isZero ? ofZero : digits;
  if (shown === null || (!isZero && shown.negative !== isNegative)) return null;
  return !isZero && shown.decimals !== null && new Big(value).round(shown.decimals, Big.roundHalfUp).eq(0)
    ? null
    : shown;
}

function amount(value: string, { decimals, currency }: ShownDigits, cleaned: boolean): CellValue {
  const text = typedNumber(value, currency ?? '');
  if (cleaned) {
    const message = `the cell holds ${value} and a rest of binary arithmetic beyond its 15 digits; ${value} is sent, as the cell shows it`;
    return doubtful(text, 'number-cleaned', message);
  }
  if (decimals === null || (value.split('.')[1] ?? '').length <= decimals) return { text };
  const message = `the cell holds ${value} and shows only ${decimals} decimals; ${value} is sent`;
  return doubtful(text, 'number-shown-rounded', message);
}

/** A number loses leading zeros unless its format fills them in; a check digit proves that none is missing. */
function taxNumber({ leastDigits }: ShownDigits, value: string): CellValue {
  const isDigits = /^\d+$/.test(value) && value.length <= MOST_DIGITS;
  const padded = isDigits ? value.padStart(leastDigits, '0') : value;
  const isProved = hasValidChecksum(padded) || padded.length > value.length;
  if (isDigits && isProved) return { text: padded };
  const message = `expected a tax number as text, found the number ${value}. Its leading zeros may be lost, and no check digit proves that none is missing. ${AS_TEXT}`;
  return wrong(value, 'tax-number-not-proved', message);
}

function reference({ leastDigits }: ShownDigits, value: string): CellValue {
  if (!/^\d+$/.test(value)) return damagedNumber(value);
  if (value.length > MOST_DIGITS) {
    const message = `expected a reference, found a number of ${value.length} digits, of which a spreadsheet keeps ${MOST_DIGITS}. ${AS_TEXT}`;
    return wrong(value, 'reference-damaged', message);
  }
  return { text: value.padStart(leastDigits, '0') };
}

function damagedNumber(text: string): CellValue {
  return wrong(text, 'reference-damaged', `expected a reference, found the number ${text.slice(0, 40)}. ${AS_TEXT}`);
}

function shownOtherwise(value: string, format: NumberFormat): CellValue {
  const message = `found the number ${value}, which the sheet shows otherwise, with the format ${shownCell(String(format.code))}. Write the number that is meant, with a format of digits and decimals alone or the currency of the invoice`;
  return wrong(value, 'number-format-adds-text', message);
}

function notExact(cell: string, { reason, text }: { readonly reason: string; readonly text: string }): CellValue {
  const found = text.slice(0, 40);
  if (reason === 'not-a-number')
    return wrong(cell, 'cell-unreadable', `expected a number in a number cell, found ${JSON.stringify(found)}`);
  const message = `found ${found}, which has more digits than a spreadsheet keeps, and the cell's format does not say how many are meant. Round it to its decimals, or format the cell to show them`;
  return wrong(cell, 'number-not-exact', message);
}

function wrong(text: string, code: string, message: string): CellValue {
  return { text, note: { code, message, severity: 'error' } };
}

function doubtful(text: string, code: string, message: string): CellValue {
  return { text, note: { code, message, severity: 'warning' } };
}

/** Excel shows and accepts at most this many digits; further digits come from binary arithmetic. */
const DIGITS_OF_A_SPREADSHEET = 15;
/** Every double has a decimal text with at most this many digits. */
const DIGITS_OF_A_DOUBLE = 17;
const SHORT = /^-?\d{1,9}(?:\.\d{1,6})?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** `cleaned` is true if digits of binary arithmetic were dropped. */
type ExactNumber =
  | { readonly ok: true; readonly value: string; readonly cleaned: boolean }
  | { readonly ok: false; readonly reason: 'not-a-number' | 'not-exact'; readonly text: string };

/**
 * Returns the decimal that a cell holds. A spreadsheet keeps a double and writes up to 17 digits: `0.10000000000000001`
 * is 0.1, the shortest decimal with the same double. If that decimal has more than 15 digits (`12.340000000000002`, the
 * result of an addition), Lote takes its first 15 digits, but only if they have no more decimals than the cell's own
 * format shows.
 */
export function exactNumber(text: string, decimals: number | null): ExactNumber {
  if (SHORT.test(text)) return { ok: true, value: canonicalDecimal(text) ?? text, cleaned: false };
  if (text.length > LONGEST_NUMBER) return { ok: false, reason: 'not-a-number', text };
  const value = NUMBER.test(text) ? Number(text) : NaN;
  const shortest = plain(String(value));
  if (shortest === null) return { ok: false, reason: 'not-a-number', text };
  const written = plain(text) ?? text;
  if (digitsOf(written) > DIGITS_OF_A_DOUBLE) return { ok: false, reason: 'not-exact', text };
  if (digitsOf(shortest) <= DIGITS_OF_A_SPREADSHEET) return { ok: true, value: shortest, cleaned: false };
  const cleaned = plain(value.toPrecision(DIGITS_OF_A_SPREADSHEET));
  const isShown = cleaned !== null && decimals !== null && isWithin(shortest, decimals);
  if (!isShown || (cleaned.split('.')[1] ?? '').length > decimals)
    return { ok: false, reason: 'not-exact', text: shortest };
  return { ok: true, value: cleaned, cleaned: true };
}

/** Returns true if all shown decimals are within the first 15 digits, so that only digits below them are dropped. */
function isWithin(canonical: string, decimals: number): boolean {
  const whole = canonical.replace('-', '').split('.')[0] ?? '';
  return canonical.includes('.') && whole.length + decimals <= DIGITS_OF_A_SPREADSHEET;
}

function plain(text: string): string | null {
  const unsigned = text
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=$|[eE])/, '');
  return canonicalDecimal(expandExponent(unsigned) ?? unsigned);
}

function digitsOf(canonical: string): number {
  return canonical.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length;
}
