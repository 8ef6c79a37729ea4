import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDecimal, isCanonicalDecimal } from '../../../src/domain/money.ts';
import type { Invoice } from '../../../src/domain/invoice.ts';
import { type ExactJson, exactJson, exactNumber, invoiceBody } from '../../../src/service/profile/body-template.ts';
import { isJsonPointer, readPointer } from '../../../src/domain/json-pointer.ts';
import { reasonText, reasonCode } from '../../../src/service/profile/reason-text.ts';
import { anyText } from '../../support/any-text.ts';

const amount = fc
  .tuple(fc.boolean(), fc.stringMatching(/^\d{1,25}$/), fc.stringMatching(/^\d{0,25}$/))
  .map(([minus, whole, fraction]) => `${minus ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`)
  .map((text) => canonicalDecimal(text) ?? '0');

/** Any text, halves of surrogate pairs too. */
const text = anyText();

describe('exactJson and JSON.parse', () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    ),
  }));

  function exact(plain: unknown): ExactJson {
    if (typeof plain === 'string') return plain;
    if (typeof plain === 'number') return exactNumber(String(plain));
    if (Array.isArray(plain)) return plain.map((item) => exact(item));
    const entries = Object.entries(plain as object).map(([name, member]) => [name, exact(member)] as const);
    return Object.fromEntries(entries);
  }

  it('say the same of every document', () => {
    fc.assert(
      fc.property(value, (plain) => {
        expect(JSON.parse(exactJson(exact(plain)))).toEqual(plain);
      }),
    );
  });
});

describe('the bytes of an invoice', () => {
  const line = fc.record({ description: text, quantity: amount, unitPrice: amount, taxCode: text });
  const invoice: fc.Arbitrary<Invoice> = fc.record({
    ref: text,
    merchant: fc.record({ nif: text, legalName: fc.option(text), email: fc.option(text) }),
    customer: fc.record({ name: text, taxId: fc.option(text) }),
    currency: fc.constantFrom('EUR', 'BRL'),
    lines: fc.array(line, { minLength: 1, maxLength: 4 }),
  });

  it('hold every amount digit by digit, and every text as it was', () => {
    fc.assert(
      fc.property(invoice, (given) => {
        const body = invoiceBody(given, 'mrc_1');
        const read = JSON.parse(body) as { lines: { description: string; tax_code: string }[]; customer: object };
        const tokens = [...body.matchAll(/"(?:quantity|unit_price)":(-?[\d.]+)(?=[,}])/g)].map(([, token]) => token);

        expect(read.lines.map((one) => [one.description, one.tax_code])).toEqual(
          given.lines.map((one) => [one.description, one.taxCode]),
        );
        expect(tokens).toEqual(expect.arrayContaining(given.lines.flatMap((one) => [one.quantity, one.unitPrice])));
        expect(Object.keys(read)).toEqual(['merchant_id', 'customer', 'currency', 'lines']);
        expect(read.customer).toEqual(
          given.customer.taxId === null || given.customer.taxId === ''
            ? { name: given.customer.name }
            : { name: given.customer.name, tax_id: given.customer.taxId },
        );
      }),
    );
  });
});

describe('exactNumber', () => {
  it('takes exactly what is canonical', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+]?[\d.e]{1,8}$/), amount), (token) => {
        if (isCanonicalDecimal(token)) expect(exactJson(exactNumber(token))).toBe(token);
        else expect(() => exactNumber(token)).toThrow(RangeError);
      }),
    );
  });

  it('shows no more than the beginning of what it refuses', () => {
    const refused = /^Writing a number into a request: expected a canonical decimal, found "x{40}"/;

    expect(() => exactNumber('x'.repeat(1_000))).toThrow(refused);
  });
});

describe('a JSON Pointer', () => {
  /** Names of the signs that mean something in a pointer, among others. */
  const name = fc.oneof(text, fc.string({ unit: fc.constantFrom('~', '/', '0', '1'), maxLength: 5 }));
  const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1');

  it('finds what stands under any names, however they are written', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), fc.jsonValue(), (names, leaf) => {
        const document = names.reduceRight<unknown>((inner, step) => Object.fromEntries([[step, inner]]), leaf);
        const pointer = names.map((step) => `/${escaped(step)}`).join('');

        expect(isJsonPointer(pointer)).toBe(true);
        expect(readPointer(document, pointer)).toEqual(leaf);
      }),
    );
  });

  it('never throws and never finds what no JSON holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.stringMatching(/^(?:\/[a-z0-9_]{0,12}){0,3}$/), (document, pointer) => {
        const found = readPointer(document, pointer);

        expect(typeof found).not.toBe('function');
        expect(found === undefined || JSON.stringify(document).includes(JSON.stringify(found))).toBe(true);
      }),
    );
  });
});

describe('words of the service', () => {
  it('become one short printable line, and stay what they are the second time', () => {
    fc.assert(
      fc.property(text, (said) => {
        const line = reasonText(said);

        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(Array.from(line).length).toBeLessThanOrEqual(200);
        expect(reasonText(line)).toBe(line);
      }),
    );
  });

  it('become a code of small letters, digits and single dashes, or none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-zA-Z][\w.:-]{0,70}$/)), (said) => {
        const code = reasonCode(said);

        if (code !== null) expect(code).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      }),
    );
  });
});
