import { canonicalDecimal } from './money.ts';

/** Between digits: point, comma, or what separates thousands. A currency may stand beside the number. */
const TYPED = /^(?:[A-Z]{3}|[€$£])?\s*(-?\d[\d.,'’\s]*)\s*(?:[A-Z]{3}|[€$£])?$/u;

/**
 * An amount as people type it, as a canonical decimal; null when it is none. The last mark is the decimal mark, unless
 * exactly three digits follow it and no other kind of mark stands before it: `1.234,5` and `1,234.5` are the same, and
 * `1.234` is a thousand.
 */
export function typedAmount(text: string): string | null {
  const digits = TYPED.exec(text.trim())?.[1]?.replaceAll(/['’\s]/gu, '');
  if (digits === undefined) return null;
  const marks = [...digits.matchAll(/[.,]/gu)];
  const last = marks.at(-1);
  if (last === undefined) return canonicalDecimal(digits);
  const whole = digits.slice(0, last.index);
  const fraction = digits.slice(last.index + 1);
  const others = new Set(marks.slice(0, -1).map(([mark]) => mark));
  if (others.has(last[0]) || (fraction.length === 3 && others.size === 0 && /[1-9]/u.test(whole)))
    return others.size > 1 ? null : canonicalDecimal(digits.replaceAll(/[.,]/gu, ''));
  return others.size > 1 ? null : canonicalDecimal(`${whole.replaceAll(/[.,]/gu, '')}.${fraction}`);
}
