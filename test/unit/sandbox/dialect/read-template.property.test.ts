import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unreadableTemplate } from '../../../../src/sandbox/dialect/requests/check-template.ts';
import { readByTemplate } from '../../../../src/sandbox/dialect/requests/read-template.ts';
import { parseTokens, tokenText, type TokenJson } from '../../../../src/sandbox/dialect/requests/token-json.ts';
import { templateMistake, type BodyTemplate } from '../../../../src/service-profile/body-template.ts';
import { invoiceBody } from '../../../../src/service/invoice-body.ts';

const LINE_NAMES = ['description', 'quantity', 'unit_price', 'tax_code'];
const NAMES = ['merchant_id', 'customer.name', 'customer.tax_id', 'currency', 'reference'];

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const word = fc.stringMatching(/^[A-Za-z0-9]{1,8}$/u);
const decimal = fc.stringMatching(/^(?:0|[1-9]\d{0,20})(?:\.\d{0,18}[1-9])?$/u);

const line = fc.record({ description: text, quantity: decimal, unitPrice: decimal, taxCode: text });
const invoice = fc.record({
  ref: text,
  merchant: fc.constant({ nif: '500000000', legalName: 'Loja', email: null }),
  customer: fc.record({ name: text, taxId: fc.option(text) }),
  currency: fc.stringMatching(/^[A-Z]{3}$/u),
  lines: fc.array(line, { minLength: 1, maxLength: 4 }),
});

/** Constants of a template: no braces, in which a placeholder would stand. */
const constant = fc.oneof(
  fc.constantFrom(null, true, false, 0, -2.5, 7),
  text.filter((one) => !/[{}]/.test(one)),
);
const around = fc.constantFrom('', ' ', '/', 'PT', 'n.º ', '(', ')-', '$^.*', '"');

/** A text that holds a name, alone or among others. */
function textWith(name: string, others: readonly string[]): fc.Arbitrary<string> {
  const as = fc.constantFrom('', '', ':text', ':number');
  const placeholder = fc.tuple(fc.constant(name), as).map(([one, how]) => `{${one}${how}}`);
  const mixed = fc
    .tuple(around, placeholder, fc.option(fc.tuple(around, fc.constantFrom(...others))), around)
    .map(([before, one, more, after]) => `${before}${one}${more === null ? '' : `${more[0]}{${more[1]}}`}${after}`);
  return fc.oneof({ weight: 3, arbitrary: placeholder }, { weight: 1, arbitrary: mixed });
}

/** An object with a member for each name, some of them in an object of their own, with constants between them. */
function objectOf(names: readonly string[], more: fc.Arbitrary<object>): fc.Arbitrary<BodyTemplate> {
  return fc
    .tuple(
      fc.tuple(...names.map((name) => textWith(name, names))),
      fc.tuple(...names.map(() => fc.boolean())),
      fc.dictionary(word, constant, { maxKeys: 3 }),
      more,
    )
    .map(([texts, nested, constants, rest]) => {
      const members = (inner: boolean) =>
        Object.fromEntries(texts.flatMap((one, at) => (nested[at] === inner ? [[`m_${at}`, one]] : [])));
      return { ...constants, ...members(false), n_: { ...members(true) }, ...rest } as BodyTemplate;
    });
}

const template = objectOf(
  NAMES,
  objectOf(LINE_NAMES, fc.constant({})).map((item) => ({ l_: [{ $each: 'lines', ...(item as object) }] })),
);

function shown(value: TokenJson | undefined): string | undefined {
  return value === undefined || typeof value === 'string' ? value : tokenText(value);
}

describe('the values of an invoice', () => {
  it('are read back out of the body that Lote wrote by the same template, or the template is refused', () => {
    let read = 0;
    fc.assert(
      fc.property(template, invoice, (given, one) => {
        fc.pre(templateMistake(given, 'invoice') === null && unreadableTemplate(given, 'body') === null);
        const body = invoiceBody(one as Parameters<typeof invoiceBody>[0], '4711', given);

        const found = readByTemplate(given, parseTokens(body));

        if ('code' in found) throw new Error(`${found.field}: ${found.message}\n${body}`);
        read += 1;
        expect(shown(found.values.get('merchant_id'))).toBe('4711');
        expect(shown(found.values.get('customer.name'))).toBe(one.customer.name);
        expect(shown(found.values.get('customer.tax_id'))).toBe(one.customer.taxId ?? undefined);
        expect(shown(found.values.get('currency'))).toBe(one.currency);
        expect(found.lines.map((each) => LINE_NAMES.map((name) => shown(each.get(name))))).toEqual(
          one.lines.map(({ description, quantity, unitPrice, taxCode }) => [description, quantity, unitPrice, taxCode]),
        );
      }),
      { numRuns: 150 },
    );
    expect(read, 'templates that can be read back').toBeGreaterThan(100);
  });
});

describe('a template that cannot be read back', () => {
  it.each([
    ['{customer.name}{description}', 'two texts of any letters'],
    ['{customer.name} {customer.tax_id}', 'two texts that may hold the space between them'],
    ['{quantity}{unit_price}', 'two numbers side by side'],
  ])('is refused by a sentence: %s', (mixed) => {
    expect(unreadableTemplate({ a: mixed }, 'requests.createInvoice.body')).toMatch(
      /^requests\.createInvoice\.body holds .* nobody can tell where one value ends/u,
    );
  });

  it('is none when each value stands elsewhere too, or is told apart by its letters', () => {
    const elsewhere = { a: '{customer.name} {customer.tax_id}', b: '{customer.name}' };

    expect(unreadableTemplate(elsewhere, 'body')).toBeNull();
    expect(unreadableTemplate({ a: '{quantity} x {unit_price}: {description}' }, 'body')).toBeNull();
  });
});

describe('a body that the template did not write', () => {
  const given = { kind: 'invoice', data: { merchant: 'm/{merchant_id}', live: true, qty: '{quantity}' } };
  const right = { kind: 'invoice', data: { merchant: 'm/1', live: true, qty: 2 } };

  it.each([
    ['another constant', { ...right, kind: 'order' }, { code: 'field_invalid', field: 'kind' }],
    ['a constant of another kind', { ...right, data: { ...right.data, live: 'true' } }, { field: 'data.live' }],
    ['a value that is absent', { kind: 'invoice', data: { merchant: 'm/1', live: true } }, { code: 'field_missing' }],
    ['a field that nobody sends', { ...right, more: 1 }, { code: 'field_unknown', field: 'more' }],
    ['a text for a number', { ...right, data: { ...right.data, qty: '2' } }, { field: 'data.qty' }],
    ['another text around a value', { ...right, data: { ...right.data, merchant: 'x/1' } }, { field: 'data.merchant' }],
    ['no object', [], { code: 'field_invalid', field: '' }],
  ])('is refused for %s', (_, body, problem) => {
    expect(readByTemplate(given, parseTokens(JSON.stringify(body)))).toMatchObject(problem);
    expect(readByTemplate(given, parseTokens(JSON.stringify(right)))).toHaveProperty('values');
  });
});
