import { Big } from 'big.js';

const CANONICAL = /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;
const PLAIN = /^([+-]?)(\d+)(?:\.(\d+))?$/;

/** `007.50` becomes `7.5`; null for text that is not a plain decimal (digits, at most one point, one leading sign). */
export function canonicalDecimal(text: string): string | null {
  const match = PLAIN.exec(text);
  if (match === null) return null;
  const whole = (match[2] ?? '').replace(/^0+(?=\d)/, '');
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  const digits = fraction === '' ? whole : `${whole}.${fraction}`;
  return match[1] === '-' && digits !== '0' ? `-${digits}` : digits;
}

/** True for a number token as Lote writes it: no exponent, no superfluous zeros, no minus zero. */
export function isCanonicalDecimal(text: string): boolean {
  return CANONICAL.test(text) && text !== '-0';
}

/** Returns the exact sum of canonical decimals, as a canonical decimal. */
export function sumDecimals(values: Iterable<string>): string {
  let total = new Big(0);
  for (const value of values) total = total.plus(value);
  return total.toFixed();
}

/** Returns the net of an invoice: the exact, unrounded sum of quantity times unit price, without tax. */
export function netOf(lines: Iterable<{ readonly quantity: string; readonly unitPrice: string }>): string {
  let total = new Big(0);
  for (const line of lines) total = total.plus(new Big(line.quantity).times(line.unitPrice));
  return total.toFixed();
}

/** Returns the median of canonical decimals, or the lower of the two middle values. Returns null for an empty list. */
export function medianDecimal(values: readonly string[]): string | null {
  const sorted = values.toSorted((a, b) => new Big(a).cmp(b));
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

/**
 * True if the larger of two canonical decimals, without signs, is more than `factor` times the smaller one. Numbers of
 * opposite signs always differ, and so does zero from every other number.
 */
export function differsByFactor(a: string, b: string, factor: number): boolean {
  const [one, other] = [new Big(a), new Big(b)];
  if (one.eq(0) && other.eq(0)) return false;
  if (one.times(other).lte(0)) return true;
  return one.abs().gt(other.abs().times(factor)) || other.abs().gt(one.abs().times(factor));
}

/** A number with points, commas or thousands separators between its digits. A currency may precede or follow it. */
const TYPED = /^(?:[A-Z]{3}|[€$£])?\s*(-?\d[\d.,'’\s]*)\s*(?:[A-Z]{3}|[€$£])?$/u;

/** The whole part and the fraction of an amount: with points between thousands, with commas, or with none. */
const FORMS = [
  /^(-?[1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d+))?$/,
  /^(-?[1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d+))?$/,
  /^(-?\d+)(?:[.,](\d+))?$/,
];

/**
 * Converts an amount as people type it to a canonical decimal; returns null if the text is not an amount. `1.234,5` and
 * `1,234.5` are the same, and `1.234` is a thousand.
 */
export function typedAmount(text: string): string | null {
  const digits = TYPED.exec(text.trim())?.[1]?.replaceAll(/['’\s]/gu, '') ?? '';
  const [, whole, fraction = '0'] = FORMS.map((form) => form.exec(digits)).find((found) => found !== null) ?? [];
  return whole === undefined ? null : canonicalDecimal(`${whole.replaceAll(/[.,]/gu, '')}.${fraction}`);
}
