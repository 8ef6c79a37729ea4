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
  frame: fc.constantFrom('array', 'invoices', 'ndjson'),
  encoding: fc.constantFrom('utf8', 'utf8', 'utf8-bom', 'utf16le-bom', 'utf16be-bom'),
  space: fc.constantFrom('', ' ', '\n', '\r\n  ', '\t'),
  escape: fc.boolean(),
  reversed: fc.boolean(),
  numbers: fc.constantFrom('token', 'token', 'exponent', 'text'),
  quantity: numberStyle.map((style) => ({ ...style, currency: 'none' as const })),
  price: numberStyle,
  empty: fc.constantFrom('absent', 'null', 'text'),
});

/** A number as it stands in the file. */
class Token {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What is written; an undefined member is absent. */
type Value = string | null | undefined | Token | readonly Value[] | { readonly [member: string]: Value };

export function writtenJson(invoices: readonly Invoice[], style: JsonStyle): Buffer {
  const objects = invoices.map((invoice) => valueOf(invoice, style));
  const text = {
    array: () => `${textOf(objects, style)}${style.space}`,
    invoices: () => textOf({ version: new Token('1'), invoices: objects }, style),
    ndjson: () => objects.map((one) => `${textOf(one, style)}\n`).join(''),
  }[style.frame]();
  return encoded(text, style.encoding);
}

function valueOf({ ref, merchant, customer, currency, lines }: Invoice, style: JsonStyle): Value {
  const optional = (value: string | null) => value ?? { absent: undefined, null: null, text: '' }[style.empty];
  const number = (value: string, how: NumberStyle) => {
    if (style.numbers === 'text') return writtenNumber(value, how, currency);
    return new Token(style.numbers === 'exponent' ? exponent(value) : value);
  };
  return {
    invoice_ref: ref,
    merchant: { nif: merchant.nif, legal_name: optional(merchant.legalName), email: optional(merchant.email) },
    customer: { name: customer.name, tax_id: optional(customer.taxId) },
    currency,
    lines: lines.map(({ description, quantity, unitPrice, taxCode }) => ({
      description,
      quantity: number(quantity, style.quantity),
      unit_price: number(unitPrice, style.price),
      tax_code: taxCode,
    })),
  };
}

function textOf(value: Value, style: JsonStyle): string {
  const { space, reversed } = style;
  const list = (items: readonly string[]) => `${space}${items.join(`,${space}`)}${space}`;
  if (value instanceof Token) return value.text;
  if (typeof value === 'string') return quoted(value, style);
  if (value === null || value === undefined) return 'null';
  if (isList(value)) return `[${list(value.map((one) => textOf(one, style)))}]`;
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  const texts = members.map(([name, one]) => `${JSON.stringify(name)}${space}:${space}${textOf(one, style)}`);
  return `{${list(reversed ? texts.toReversed() : texts)}}`;
}

function isList(value: object): value is readonly Value[] {
  return Array.isArray(value);
}

function quoted(value: string, { escape }: JsonStyle): string {
  const text = JSON.stringify(value);
  if (!escape) return text;
  return text.replaceAll(/[^\u0020-\u007e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
