import fc from 'fast-check';

/** How a program writes the numbers of a column. */
export interface NumberStyle {
  readonly mark: '.' | ',';
  /** Between groups of three digits; empty: none. */
  readonly grouping: string;
  /** Decimals are filled up with zeros to so many; a value that has more keeps them. */
  readonly decimals: number;
  readonly minus: 'before' | 'after' | 'unicode' | 'parentheses';
  readonly wide: boolean;
  readonly currency: 'none' | 'sign-before' | 'sign-after' | 'code-before' | 'code-after';
}

const NO_BREAK = '\u00a0';
const GROUPINGS = ['', ' ', NO_BREAK, '\u202f', '\u2009', "'", '\u2019', 'other'] as const;

export const numberStyle: fc.Arbitrary<NumberStyle> = fc
  .record({
    mark: fc.constantFrom('.' as const, ',' as const),
    grouping: fc.constantFrom(...GROUPINGS),
    decimals: fc.constantFrom(0, 0, 2, 2, 3),
    minus: fc.constantFrom('before' as const, 'after' as const, 'unicode' as const, 'parentheses' as const),
    wide: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
    currency: fc.constantFrom('none', 'none', 'sign-before', 'sign-after', 'code-before', 'code-after'),
  })
  .map((style) => ({
    ...style,
    grouping: style.grouping === 'other' ? (style.mark === '.' ? ',' : '.') : style.grouping,
  }));

/** The same column in an encoding of 256 characters: what it does not have becomes its nearest neighbour. */
export function narrow(style: NumberStyle): NumberStyle {
  return {
    ...style,
    wide: false,
    grouping: /[\u202f\u2009]/.test(style.grouping) ? NO_BREAK : style.grouping === '\u2019' ? "'" : style.grouping,
    minus: style.minus === 'unicode' ? 'before' : style.minus,
    currency: style.currency.startsWith('sign') ? 'none' : style.currency,
  };
}

const SIGNS: Readonly<Record<string, string>> = { EUR: '€', USD: '$', GBP: '£' };

/** A canonical decimal as a cell. */
export function writtenNumber(value: string, style: NumberStyle, currency: string): string {
  const { digits } = digitsOf(value, style);
  const body = value.startsWith('-') ? negative(digits, style.minus) : digits;
  const money = style.currency.startsWith('sign') ? (SIGNS[currency] ?? '') : currency;
  const made =
    style.currency === 'none' ? body : style.currency.endsWith('before') ? `${money} ${body}` : `${body} ${money}`;
  return style.wide ? made.replaceAll(/[0-9.,]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)) : made;
}

/** The same program writes all numbers of a file with one mark. */
export function withMark(style: NumberStyle, mark: NumberStyle['mark']): NumberStyle {
  const isMark = style.grouping === '.' || style.grouping === ',';
  return { ...style, mark, grouping: isMark ? (mark === '.' ? ',' : '.') : style.grouping };
}

/**
 * What the cell says of the file's decimal mark, worked out from how it was written and not by reading it: `neutral`, both marks
 * read the same; `decisive`, only the true one reads it, and `grouping` also shows how thousands are written; `thousand` and `decimal`, both read it, as
 * different numbers, of which this one is meant.
 */
export function evidenceOf(
  value: string,
  style: NumberStyle,
): 'neutral' | 'decisive' | 'grouping' | 'thousand' | 'decimal' {
  const { whole, fraction, groups } = digitsOf(value, style);
  const groupedByMark = groups > 0 && (style.grouping === '.' || style.grouping === ',');
  if (fraction === '') return groupedByMark ? (groups === 1 ? 'thousand' : 'grouping') : 'neutral';
  if (groupedByMark) return 'grouping';
  if (fraction.length !== 3 || groups > 0) return 'decisive';
  return whole.length <= 3 && whole !== '0' ? 'decimal' : 'decisive';
}

function digitsOf(value: string, { mark, grouping, decimals }: NumberStyle) {
  const [whole = '', exact = ''] = value.replace('-', '').split('.');
  const fraction = exact.padEnd(decimals, '0');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, grouping);
  const groups = grouping === '' ? 0 : Math.floor((whole.length - 1) / 3);
  return { whole, fraction, groups, digits: fraction === '' ? grouped : grouped + mark + fraction };
}

function negative(digits: string, minus: NumberStyle['minus']): string {
  switch (minus) {
    case 'before':
      return `-${digits}`;
    case 'after':
      return `${digits}-`;
    case 'unicode':
      return `\u2212${digits}`;
    case 'parentheses':
      return `(${digits})`;
  }
}
