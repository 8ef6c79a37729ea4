import fc from 'fast-check';
import type { Invoice } from '../../src/domain/invoice.ts';
import { encoded } from './written-csv.ts';
import { numberStyle, writtenNumber } from './written-number.ts';
import type { NumberStyle } from './written-number.ts';

export interface JsonStyle {
  readonly frame: 'array' | 'invoices' | 'ndjson';
  readonly encoding: 'utf8' | 'utf8-bom' | 'utf16le-bom' | 'utf16be-bom';
  /** White space between tokens; NDJSON that is spread over lines reads all the same. */
  readonly space: string;
  readonly escape: boolean;
  /** Members in another order than the documented one. */
  readonly reversed: boolean;
  /** `token`, with or without an exponent; `text`: a number in quotes, which must prove its mark. */
  readonly numbers: 'token' | 'exponent' | 'text';
  readonly quantity: NumberStyle;
  readonly price: NumberStyle;
  /** An empty value is absent, null or an empty text. */
  readonly empty: 'absent' | 'null' | 'text';
}

export const jsonStyle: fc.Arbitrary<JsonStyle> = fc.record({
  frame: fc.constantFrom('array' as const, 'invoices' as const, 'ndjson' as const),
  encoding: fc.constantFrom(
    'utf8' as const,
    'utf8' as const,
    'utf8-bom' as const,
    'utf16le-bom' as const,
    'utf16be-bom' as const,
  ),
  space: fc.constantFrom('', ' ', '\n', '\r\n  ', '\t'),
  escape: fc.boolean(),
  reversed: fc.boolean(),
  numbers: fc.constantFrom('token' as const, 'token' as const, 'exponent' as const, 'text' as const),
  quantity: numberStyle.map((style) => ({ ...style, currency: 'none' as const })),
  price: numberStyle,
  empty: fc.constantFrom('absent' as const, 'null' as const, 'text' as const),
});

export function writtenJson(invoices: readonly Invoice[], style: JsonStyle): Buffer {
  const { frame, space } = style;
  const objects = invoices.map((invoice) => invoiceText(invoice, style));
  const list = `[${space}${objects.join(`${space},${space}`)}${space}]`;
  const text =
    frame === 'array'
      ? `${list}${space}`
      : frame === 'invoices'
        ? object(
            [
              ['version', '1'],
              ['invoices', list],
            ],
            style,
          )
        : objects.map((one) => `${one}\n`).join('');
  return encoded(text, style.encoding);
}

function invoiceText({ ref, merchant, customer, currency, lines }: Invoice, style: JsonStyle): string {
  return object(
    [
      ['invoice_ref', string(ref, style)],
      [
        'merchant',
        object(
          [
            ['nif', string(merchant.nif, style)],
            ...optional('legal_name', merchant.legalName, style),
            ...optional('email', merchant.email, style),
          ],
          style,
        ),
      ],
      [
        'customer',
        object([['name', string(customer.name, style)], ...optional('tax_id', customer.taxId, style)], style),
      ],
      ['currency', string(currency, style)],
      [
        'lines',
        `[${lines
          .map((line) =>
            object(
              [
                ['description', string(line.description, style)],
                ['quantity', number(line.quantity, style.quantity, { style, currency })],
                ['unit_price', number(line.unitPrice, style.price, { style, currency })],
                ['tax_code', string(line.taxCode, style)],
              ],
              style,
            ),
          )
          .join(`,${style.space}`)}]`,
      ],
    ],
    style,
  );
}

function object(members: readonly (readonly [string, string])[], { space, reversed }: JsonStyle): string {
  const texts = members.map(([name, value]) => `${JSON.stringify(name)}${space}:${space}${value}`);
  return `{${space}${(reversed ? texts.toReversed() : texts).join(`,${space}`)}${space}}`;
}

function optional(name: string, value: string | null, style: JsonStyle): readonly (readonly [string, string])[] {
  if (value !== null) return [[name, string(value, style)]];
  return style.empty === 'absent' ? [] : [[name, style.empty === 'null' ? 'null' : '""']];
}

function string(value: string, { escape }: JsonStyle): string {
  const text = JSON.stringify(value);
  return escape
    ? text.replaceAll(/[^\u0020-\u007e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text;
}

function number(
  value: string,
  how: NumberStyle,
  given: { readonly style: JsonStyle; readonly currency: string },
): string {
  const { style, currency } = given;
  if (style.numbers === 'text') return string(writtenNumber(value, how, currency), style);
  return style.numbers === 'exponent' ? exponent(value) : value;
}

/** `-12.5` as `-125e-1`, `1200` as `12E+2`. */
function exponent(value: string): string {
  const [whole = '', fraction = ''] = value.split('.');
  if (fraction !== '') {
    const digits = `${whole}${fraction}`.replace(/^(-?)0+(?=\d)/, '$1');
    return `${digits}e-${fraction.length}`;
  }
  const zeros = /0*$/.exec(whole.slice(1))?.[0].length ?? 0;
  return zeros === 0 ? whole : `${whole.slice(0, whole.length - zeros)}E+${zeros}`;
}
