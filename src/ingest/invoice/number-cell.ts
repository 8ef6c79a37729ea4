import type { RawRow } from '../../domain/row.ts';
import { cellOf, shownCell } from './cell-findings.ts';
import type { CellFindings } from './cell-findings.ts';
import { expandExponent } from './expand-exponent.ts';
import type { Conversion, NumberColumn } from '../ingest-result.ts';
import { LONGEST_NUMBER, readNumber } from './read-number.ts';
import type { ReadNumber } from './read-number.ts';
import { readTypedNumber } from '../workbook/typed-number.ts';

/** More decimals than this are what a float leaves behind (`12.340000000000002`), not what anybody charges. */
const MOST_DECIMALS = 8;
/** More digits before the decimal mark than any amount has: a tax number or a telephone number in the wrong column, most often. */
const MOST_WHOLE_DIGITS = 15;
/** Currencies that each sign stands for; an amount with another sign than its invoice's currency has is somebody's mistake. */
const CURRENCIES_OF: Readonly<Record<string, readonly string[]>> = {
  '€': ['EUR'],
  '£': ['GBP'],
  R$: ['BRL'],
  '¥': ['JPY', 'CNY'],
  $: 'USD CAD AUD NZD HKD SGD TWD MXN ARS CLP COP UYU CVE'.split(' '),
};

/** Canonical decimal of a number cell, or null with a finding that says why not. */
export function numberCell(
  row: RawRow,
  column: NumberColumn,
  given: { readonly conversion: Conversion; readonly currency: string; readonly findings: CellFindings },
): string | null {
  const { conversion, currency, findings } = given;
  const name = column.replace('_', '-');
  const cell = cellOf(row, column);
  if (cell === '') {
    findings.error(row.row, column, { code: `${name}-missing`, message: 'expected a number, found an empty cell' });
    return null;
  }
  const typed = isWorkbook(conversion) ? readTypedNumber(cell) : null;
  // Only programs write an exponent, and with a point.
  const exact = typed ?? (isJson(conversion) ? expandExponent(cell) : null);
  const text = exact ?? cell;
  const shown = typed ?? cell;
  const read = readNumber(text, exact === null ? conversion.decimal[column] : '.');
  if (read === null) {
    findings.error(row.row, column, {
      code: `${name}-unreadable`,
      message: unreadable(shown, conversion.decimal[column]),
    });
    return null;
  }
  if (exact === null && isAmbiguous(text, read, given.conversion, column)) {
    findings.error(row.row, column, {
      code: `${name}-ambiguous`,
      message: `found ${shownCell(shown)}, which reads as two numbers, in a column where both decimal marks occur, here or in the file of these corrections. Write it with two decimals`,
    });
    return null;
  }
  if (read.currency !== null && (column === 'quantity' || !agrees(read.currency, currency))) {
    const expected = column === 'quantity' ? 'a quantity, which has no currency' : `an amount in ${currency}`;
    findings.error(row.row, column, {
      code: `${name}-currency`,
      message: `expected ${expected}, found ${shownCell(shown)}`,
    });
    return null;
  }
  if (!/[1-9]/.test(read.value) || read.value.startsWith('-')) {
    findings.warning(row.row, column, {
      code: `${name}-not-positive`,
      message: `expected more than zero, found ${shownCell(shown)}; it is sent as it is`,
    });
  }
  const [whole = '', decimals = ''] = read.value.replace('-', '').split('.');
  if (decimals.length > MOST_DECIMALS) {
    findings.warning(row.row, column, {
      code: `${name}-decimals`,
      message: `expected at most ${MOST_DECIMALS} decimals, found ${shownCell(shown)}; nothing is rounded, it is sent as it is`,
    });
  }
  if (whole.length > MOST_WHOLE_DIGITS) {
    findings.warning(row.row, column, {
      code: `${name}-very-large`,
      message: `expected at most ${MOST_WHOLE_DIGITS} digits before the decimal mark, found ${whole.length} in ${shownCell(shown)}; it is sent as it is`,
    });
  }
  return read.value;
}

function isWorkbook({ format }: Conversion): boolean {
  return format === 'xlsx' || format === 'ods';
}

function isJson({ format }: Conversion): boolean {
  return format === 'json' || format === 'ndjson';
}

function isAmbiguous(text: string, read: ReadNumber, conversion: Conversion, column: NumberColumn): boolean {
  if (!conversion.doubtful[column]) return false;
  const other = readNumber(text, conversion.decimal[column] === '.' ? ',' : '.');
  return other !== null && other.value !== read.value;
}

function unreadable(cell: string, mark: string): string {
  const kind = mark === ',' ? 'a number with a decimal comma' : 'a decimal number';
  const found = `expected ${kind}, found ${shownCell(cell)}`;
  if (cell.length > LONGEST_NUMBER) return `${found}, ${cell.length} characters; at most ${LONGEST_NUMBER} can be read`;
  if (cell.endsWith('%')) return `${found}, a percentage`;
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i.test(cell))
    return `${found}, in scientific notation. Write it out without an exponent`;
  return found;
}

function agrees(found: string, currency: string): boolean {
  return found === currency || CURRENCIES_OF[found]?.includes(currency) === true;
}
