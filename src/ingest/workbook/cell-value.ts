import { canonicalDecimal } from '../../domain/money.ts';
import { expandExponent } from '../invoice/expand-exponent.ts';
import { hasValidChecksum } from '../invoice/identity.ts';
import { exactNumber } from './exact-number.ts';
import { readTypedNumber, typedNumber } from './typed-number.ts';
import type { SheetCell } from './workbook.ts';

/** What a column's cells are for: a number is read in another way as an amount than as a tax number. */
export type CellRole = 'number' | 'tax-number' | 'reference' | 'text';

/** A cell as it goes into a row, and what is to be said of it. */
export interface CellValue {
  readonly text: string;
  /** As a corrections file in CSV holds it; left out where that is the text. */
  readonly inCsv?: string;
  readonly note?: {
    readonly code: string;
    readonly message: string;
    readonly severity: 'error' | 'warning';
  };
}

/** Spreadsheets keep no more digits of a number. */
const MOST_DIGITS = 15;
/** In a corrections file: wherever it stands, every reader refuses it, so that a row which nobody corrected is refused again. */
const NO_VALUE = '#VALUE!';
/** A format that fills in more zeros is for show: no reference has so many digits. */
const MOST_FILLED_DIGITS = 20;
const AS_TEXT = 'Format the column as text and enter it again';

/** The value of a cell in a column of this role. What cannot be proved is an error, never a guess. */
export function cellValue(cell: SheetCell | undefined, role: CellRole): CellValue {
  if (cell === undefined) return { text: '' };
  switch (cell.kind) {
    case 'number':
      return numberValue(cell, role);
    case 'missing':
      return {
        ...{ text: '', inCsv: NO_VALUE },
        note: error(
          'formula-without-value',
          'found a formula without a value. Open the file in a spreadsheet program and save it again',
        ),
      };
    case 'error':
      return {
        ...{ text: cell.text, inCsv: NO_VALUE },
        note: error(
          'spreadsheet-error',
          `expected a value, found the error ${cell.text.slice(0, 40)}. Correct the formula`,
        ),
      };
    case 'date':
      return dateValue(cell.text, role);
    case 'boolean':
      return { text: cell.text };
    case 'text':
      // A typed number waits in a form that no text may have.
      return { text: readTypedNumber(cell.text) === null ? cell.text : cell.text.replace('e-', 'E-') };
  }
}

function dateValue(text: string, role: CellRole): CellValue {
  const found = text.slice(0, 40);
  if (role === 'number') return { text };
  if (role === 'text')
    return {
      text,
      note: warning('date-as-text', `found a date, which every reader sees in another way; it is sent as ${found}`),
    };
  const [code, expected] =
    role === 'reference' ? ['reference-damaged', 'a reference'] : ['tax-number-damaged', 'a tax number'];
  const message = `expected ${expected}, found the date or time ${found}. ${AS_TEXT}`;
  return { text, inCsv: NO_VALUE, note: error(code, message) };
}

function numberValue(cell: SheetCell, role: CellRole): CellValue {
  const { format } = cell;
  const decimals = format?.kind === 'number' ? format.decimals : null;
  const exact = exactNumber(cell.text, decimals);
  if (!exact.ok) return { text: cell.text, inCsv: NO_VALUE, note: notExact(exact) };
  if (role === 'number') return amount(cell, exact.value, exact.cleaned);
  if (format?.kind === 'percent') {
    const percent = canonicalDecimal(expandExponent(`${exact.value}e2`) ?? '') ?? exact.value;
    const text = `${percent}%`;
    return role === 'text' ? { text } : { text, inCsv: NO_VALUE, note: damagedNumber(text) };
  }
  if (format?.addsText === true || (format?.leastDigits ?? 1) > MOST_FILLED_DIGITS)
    return { text: exact.value, inCsv: NO_VALUE, note: addsText(exact.value) };
  if (role === 'tax-number') return taxNumber(cell, exact.value);
  if (role === 'text') return { text: exact.value };
  return reference(cell, exact.value);
}

function amount({ format }: SheetCell, value: string, cleaned: boolean): CellValue {
  if (format?.kind === 'percent') {
    const percent = canonicalDecimal(expandExponent(`${value}e2`) ?? '') ?? value;
    return { text: `${percent}%` };
  }
  const text = typedNumber(value, format?.currency ?? '');
  const inCsv = `${format?.currency ?? ''}${value}`;
  const shown = format?.decimals ?? null;
  if (cleaned)
    return {
      text,
      inCsv,
      note: warning(
        'number-cleaned',
        `the cell holds ${value} and a rest of binary arithmetic beyond its 15 digits; ${value} is sent, as the cell shows it`,
      ),
    };
  if (shown === null || (value.split('.')[1] ?? '').length <= shown) return { text, inCsv };
  return {
    text,
    inCsv,
    note: warning('number-shown-rounded', `the cell holds ${value} and shows only ${shown} decimals; ${value} is sent`),
  };
}

/** Leading zeros of a number are lost, unless its format fills them in. A valid check digit proves that none is missing. */
function taxNumber({ format }: SheetCell, value: string): CellValue {
  const isDigits = /^\d+$/.test(value) && value.length <= MOST_DIGITS;
  const padded = isDigits ? value.padStart(format?.leastDigits ?? 1, '0') : value;
  const isProved = hasValidChecksum(padded) || padded.length > value.length;
  if (isDigits && isProved) return { text: padded };
  const message = `expected a tax number as text, found the number ${value}. Its leading zeros may be lost, and no check digit proves that none is missing. ${AS_TEXT}`;
  return { text: value, inCsv: scientific(value), note: error('tax-number-not-proved', message) };
}

function reference({ format }: SheetCell, value: string): CellValue {
  if (!/^\d+$/.test(value)) return { text: value, inCsv: scientific(value), note: damagedNumber(value) };
  if (value.length > MOST_DIGITS) {
    const message = `expected a reference, found a number of ${value.length} digits, of which a spreadsheet keeps ${MOST_DIGITS}. ${AS_TEXT}`;
    return { text: value, inCsv: scientific(value), note: error('reference-damaged', message) };
  }
  return { text: value.padStart(format?.leastDigits ?? 1, '0') };
}

function damagedNumber(found: string) {
  return error('reference-damaged', `expected a reference, found the number ${found.slice(0, 40)}. ${AS_TEXT}`);
}

function addsText(value: string) {
  return error(
    'number-format-adds-text',
    `found the number ${value}, whose format shows more than its digits. ${AS_TEXT}, as it is meant to be sent`,
  );
}

function notExact({ reason, text }: { readonly reason: string; readonly text: string }) {
  const found = text.slice(0, 40);
  return reason === 'not-a-number'
    ? error('cell-unreadable', `expected a number in a number cell, found ${JSON.stringify(found)}`)
    : error(
        'number-not-exact',
        `found ${found}, which has more digits than a spreadsheet keeps, and the cell's format does not say how many are meant. Round it to its decimals, or format the cell to show them`,
      );
}

/** In this form every reader takes the cell for a number that was damaged: an uncorrected corrections file is refused again. */
function scientific(value: string): string {
  const [whole = '0', fraction = ''] = value.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/0+$/, '') || '0';
  return `${digits[0] ?? '0'}${digits.length > 1 ? `.${digits.slice(1)}` : ''}E+${whole.length - 1}`;
}

function error(code: string, message: string) {
  return { code, message, severity: 'error' } as const;
}

function warning(code: string, message: string) {
  return { code, message, severity: 'warning' } as const;
}
