import { Big } from 'big.js';
import { canonicalDecimal } from '../../domain/money.ts';
import { shownCell } from '../invoice/cell-findings.ts';
import { hasValidChecksum } from '../invoice/identity.ts';
import { LONGEST_NUMBER, expandExponent, readTypedNumber, typedNumber } from '../invoice/read-number.ts';
import { GENERAL, type NumberFormat, type ShownDigits } from './number-format.ts';
import type { SheetCell } from './workbook.ts';

/** A number is read in an amount column in another way than in a tax number column. */
export type CellRole = 'number' | 'tax-number' | 'reference' | 'text';

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

type ExactNumber =
  | {
      readonly ok: true;
      readonly value: string;
      /** True if digits of binary arithmetic were dropped. */ readonly cleaned: boolean;
    }
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
  if (
    cleaned === null ||
    decimals === null ||
    !isWithin(shortest, decimals) ||
    (cleaned.split('.')[1] ?? '').length > decimals
  )
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
