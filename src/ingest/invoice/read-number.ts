import { canonicalDecimal } from '../../domain/money.ts';

/** Character between the whole part and the decimals of a number. */
export type DecimalMark = '.' | ',';

interface ReadNumber {
  readonly value: string;
  readonly currency: string | null;
}

/** Returns the text if Lote knows it as the sign or code of a currency, and null otherwise. */
export function readableCurrency(text: string): string | null {
  return /^(?:R\$|US\$|[€$£¥]|[A-Z]{3})$/.test(text) ? text : null;
}

/** A longer cell is not an amount; without a limit, a hostile cell would cost quadratic arithmetic. */
export const LONGEST_NUMBER = 400;
const SIMPLE = /^-?\d+(?:\.\d+)?$/;
const CURRENCY = /^(?:(?<before>R\$|US\$|[€$£¥]|[A-Z]{3}) ?)?(?<body>[^A-Za-z€$£¥]+?)(?: ?(?<after>[€$£¥]|[A-Z]{3}))?$/;
const SHAPES: Readonly<
  Record<DecimalMark, { readonly plain: RegExp; readonly grouped: RegExp; readonly groups: RegExp }>
> = {
  '.': {
    plain: /^(?:\d+(?:\.\d+)?|\.\d+)$/,
    grouped: /^[1-9]\d{0,2}([, '])\d{3}(?:\1\d{3})*(?:\.\d+)?$/,
    groups: /[, ']/g,
  },
  ',': {
    plain: /^(?:\d+(?:,\d+)?|,\d+)$/,
    grouped: /^[1-9]\d{0,2}([. '])\d{3}(?:\1\d{3})*(?:,\d+)?$/,
    groups: /[. ']/g,
  },
};

/** Reads a number with a decimal mark, without rounding and floats. Null if it is no number with that mark. */
export function readNumber(cell: string, mark: DecimalMark): ReadNumber | null {
  const text = cell.trim();
  if (text.length > LONGEST_NUMBER) return null;
  if (mark === '.' && SIMPLE.test(text)) return asRead(canonicalDecimal(text), null);
  const { signed, negative, rest } = splitSign(plainCharacters(text));
  const match = CURRENCY.exec(rest);
  if (match?.groups === undefined) return null;
  const { before, body = '', after } = match.groups;
  if (before !== undefined && after !== undefined) return null;
  const inner = splitSign(body.trim());
  if (signed && inner.signed) return null;
  const digits = digitsOf(inner.rest, mark);
  if (digits === null) return null;
  return asRead(canonicalDecimal(negative || inner.negative ? `-${digits}` : digits), before ?? after ?? null);
}

function asRead(value: string | null, currency: string | null): ReadNumber | null {
  return value === null ? null : { value, currency };
}

/** Replaces full-width, no-break and typographic signs by ASCII. NFKC would read `10²` as 102. */
export function plainCharacters(text: string): string {
  if (!/[^\u0020-\u007e]/.test(text)) return text;
  return text
    .replace(/[\uff10-\uff19\uff0c\uff0e\uff0d]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u00a0\u2007\u2009\u202f]/g, ' ')
    .replace(/\u2212/g, '-')
    .replace(/\u2019/g, "'");
}

/** Reads `-5`, `5-`, `(5)` and `+5`. */
function splitSign(text: string): { readonly signed: boolean; readonly negative: boolean; readonly rest: string } {
  if (/^\(.*\)$/.test(text)) return { signed: true, negative: true, rest: text.slice(1, -1).trim() };
  if (text.startsWith('-')) return { signed: true, negative: true, rest: text.slice(1).trimStart() };
  if (text.endsWith('-')) return { signed: true, negative: true, rest: text.slice(0, -1).trimEnd() };
  if (text.startsWith('+')) return { signed: true, negative: false, rest: text.slice(1).trimStart() };
  return { signed: false, negative: false, rest: text };
}

function digitsOf(body: string, mark: DecimalMark): string | null {
  const shape = SHAPES[mark];
  const bare = shape.plain.test(body) ? body : shape.grouped.test(body) ? body.replace(shape.groups, '') : null;
  if (bare === null) return null;
  const pointed = bare.replace(',', '.');
  return pointed.startsWith('.') ? `0${pointed}` : pointed;
}

const TYPED = /^(\D{0,3}?)(-?\d+)e-(\d{1,3})$/;

/** Writes a workbook's number so that its mark needs no proof: `12.5` becomes `125e-1`, after its currency. */
export function typedNumber(canonical: string, currency: string): string {
  const [whole = '', fraction = ''] = canonical.split('.');
  return fraction === '' && currency === '' ? canonical : `${currency}${whole}${fraction}e-${fraction.length}`;
}

/** Returns the decimal, with a point, that `typedNumber` wrote; null for any other text. */
export function readTypedNumber(cell: string): string | null {
  const [, currency = '', digits, places] = TYPED.exec(cell) ?? [];
  if (digits === undefined || places === undefined) return null;
  const unsigned = digits.replace('-', '').padStart(Number(places) + 1, '0');
  const at = unsigned.length - Number(places);
  const decimal = Number(places) === 0 ? unsigned : `${unsigned.slice(0, at)}.${unsigned.slice(at)}`;
  return `${currency}${digits.startsWith('-') ? '-' : ''}${decimal}`;
}

/** A JSON number may be `1e400`, which is legal but never an amount; no amount has more than 40 places either way. */
const LARGEST_EXPONENT = 40;

/** Writes `1.5e3` as `1500`. Returns null without an exponent, or with one out of range. */
export function expandExponent(text: string): string | null {
  const [, sign = '', whole = '', fraction = '', power] = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(text) ?? [];
  if (power === undefined || Math.abs(Number(power)) > LARGEST_EXPONENT) return null;
  const digits = whole + fraction;
  const point = whole.length + Number(power);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
