import { canonicalDecimal } from '../../domain/money.ts';
import { expandExponent } from '../invoice/expand-exponent.ts';
import { LONGEST_NUMBER } from '../invoice/read-number.ts';

/** Excel shows and enters at most so many digits; what stands behind them is left over from binary arithmetic. */
const DIGITS_OF_A_SPREADSHEET = 15;
/** Every double has a decimal text of at most so many digits. */
const DIGITS_OF_A_DOUBLE = 17;
const SHORT = /^-?\d{1,9}(?:\.\d{1,6})?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A number cell as a decimal, or why it cannot be one. */
export type ExactNumber =
  | {
      readonly ok: true;
      readonly value: string;
      /** Rests of binary arithmetic were dropped. */ readonly cleaned: boolean;
    }
  | { readonly ok: false; readonly reason: 'not-a-number' | 'not-exact'; readonly text: string };

/**
 * The decimal that a cell holds. A spreadsheet keeps a double, written in up to 17 digits: `0.10000000000000001` is 0.1, the shortest
 * decimal with the same double. Where that has more than 15 digits (`12.340000000000002`, the result of an addition), it is taken only if
 * its first 15 digits are a number of no more decimals than the cell's own format shows.
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
  if (cleaned === null || decimals === null || !isWithin(shortest, decimals) || decimalsOf(cleaned) > decimals)
    return { ok: false, reason: 'not-exact', text: shortest };
  return { ok: true, value: cleaned, cleaned: true };
}

/** All decimals that are shown lie within the first 15 digits: what is dropped is below them. */
function isWithin(canonical: string, decimals: number): boolean {
  const whole = canonical.replace('-', '').split('.')[0] ?? '';
  return canonical.includes('.') && whole.length + decimals <= DIGITS_OF_A_SPREADSHEET;
}

function decimalsOf(canonical: string): number {
  return canonical.split('.')[1]?.length ?? 0;
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
