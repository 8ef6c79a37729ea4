import { describe, expect, it } from 'vitest';
import { COLUMNS } from '../../../../src/domain/row.ts';
import type { Column, GroupedInvoice, RawRow } from '../../../../src/domain/row.ts';
import type { Conversion } from '../../../../src/ingest/ingest-result.ts';
import { toInvoice, toInvoices } from '../../../../src/ingest/invoice/to-invoice.ts';

const CONVERSION: Conversion = {
  format: 'csv',
  decimal: { quantity: '.', unit_price: '.' },
  duplicateRows: 'refuse',
  lookAlikes: 'refuse',
  labels: Object.fromEntries(COLUMNS.map((column) => [column, column])) as Record<Column, string>,
  doubtful: { quantity: false, unit_price: false },
  damaged: {},
  lostReferences: {},
  taxCodes: null,
};

const CELLS: Readonly<Record<Column, string | null>> = {
  invoice_ref: 'F1',
  merchant_nif: '501964843',
  merchant_legal_name: 'Padaria',
  merchant_email: 'a@b.example',
  customer_name: 'Ana',
  customer_tax_id: '210484276',
  currency: 'EUR',
  description: 'Pão',
  quantity: '2',
  unit_price: '1.50',
  tax_code: 'IVA_23',
};

function row(number: number, cells: Partial<Record<Column, string | null>> = {}, object: number | null = null): RawRow {
  const all = { ...CELLS, ...cells };
  return { row: number, ref: 'F1', nif: '501964843', object, cells: COLUMNS.map((column) => all[column]) };
}

function codes(invoice: GroupedInvoice): string[] {
  return invoice.findings.map(({ severity, code, row: at, column }) => `${severity} ${code} ${at} ${column}`);
}

describe('toInvoices', () => {
  const group = [row(2), { ...row(3), ref: 'F\u200b1' }, row(4, { description: 'Queijo' })];

  it('makes all invoices invalid whose references look alike: a row of one may belong to the other', () => {
    const invoices = toInvoices(group, CONVERSION);

    expect(invoices.map(({ ok, rows }) => [ok, rows])).toEqual([
      [false, [2, 4]],
      [false, [3]],
    ]);
    expect(invoices.map(codes)).toEqual([
      ['error reference-look-alike 2 invoice_ref'],
      ['error reference-look-alike 3 invoice_ref'],
    ]);
    expect(invoices[0]?.findings[0]?.message).toContain('F<U+200B>1');
  });

  const zeros = [row(2), { ...row(3), nif: '0501964843' }, row(4, { description: 'Queijo' })];

  it('makes all invoices invalid whose tax numbers differ in the zeros in front alone', () => {
    const invoices = toInvoices(zeros, CONVERSION);

    expect(invoices.map(({ ok, rows }) => [ok, rows])).toEqual([
      [false, [2, 4]],
      [false, [3]],
    ]);
    expect(invoices.map((one) => codes(one)[0])).toEqual([
      'error nif-look-alike 2 merchant_nif',
      'error nif-look-alike 3 merchant_nif',
    ]);
    expect(invoices[0]?.findings[0]?.message).toContain('of row 3 only in the zeros in front');
    expect(toInvoices(zeros, { ...CONVERSION, lookAlikes: 'keep' }).map(({ ok }) => ok)).toEqual([true, true]);
  });

  it('keeps them as two when somebody has confirmed it', () => {
    expect(toInvoices(group, { ...CONVERSION, lookAlikes: 'keep' }).map(({ ok }) => ok)).toEqual([true, true]);
  });
});

describe('toInvoice', () => {
  it('builds an invoice of canonical values, its lines in file order', () => {
    const invoice = toInvoice(
      [
        row(2, { currency: ' eur ', quantity: '02.50' }),
        row(9, { description: ' Café ', currency: 'EUR', unit_price: '1,000.10' }),
      ],
      CONVERSION,
    );

    expect(invoice).toEqual({
      ok: true,
      invoice: {
        ref: 'F1',
        merchant: { nif: '501964843', legalName: 'Padaria', email: 'a@b.example' },
        customer: { name: 'Ana', taxId: '210484276' },
        currency: 'EUR',
        lines: [
          { description: 'Pão', quantity: '2.5', unitPrice: '1.5', taxCode: 'IVA_23' },
          { description: 'Café', quantity: '2', unitPrice: '1000.1', taxCode: 'IVA_23' },
        ],
      },
      rows: [2, 9],
      findings: [],
    });
  });

  it('uses the decimal mark of each column', () => {
    const invoice = toInvoice([row(2, { quantity: '1.500', unit_price: '1.500' })], {
      ...CONVERSION,
      decimal: { quantity: '.', unit_price: ',' },
    });

    expect(invoice).toMatchObject({ ok: true, invoice: { lines: [{ quantity: '1.5', unitPrice: '1500' }] } });
  });

  it.each([
    ['customer_name', ' ', 'error customer-name-missing 2 customer_name'],
    ['customer_name', null, 'error customer-name-missing 2 customer_name'],
    ['currency', '', 'error currency-missing 2 currency'],
    ['currency', 'EU1', 'error currency-unreadable 2 currency'],
    ['description', '', 'error description-missing 2 description'],
    ['quantity', '', 'error quantity-missing 2 quantity'],
    ['quantity', 'x', 'error quantity-unreadable 2 quantity'],
    ['unit_price', '1,5', 'error unit-price-unreadable 2 unit_price'],
    ['unit_price', '1.5 USD', 'error unit-price-currency 2 unit_price'],
    ['tax_code', '', 'error tax-code-missing 2 tax_code'],
    ['customer_tax_id', '2,10484E+08', 'error customer-tax-id-damaged 2 customer_tax_id'],
    ['customer_tax_id', '210484276.0', 'error customer-tax-id-damaged 2 customer_tax_id'],
    ['invoice_ref', 'F\u{fffd}1', 'error character-lost 2 invoice_ref'],
    ['customer_tax_id', '21\u{fffd}', 'error character-lost 2 customer_tax_id'],
    ['description', 'a\u0000', 'error control-character 2 description'],
    ['merchant_email', 'a\u009fb', 'error control-character 2 merchant_email'],
  ] as const)('is invalid when %s is %j', (column, cell, finding) => {
    const invoice = toInvoice([row(2, { [column]: cell })], CONVERSION);

    expect(invoice).toMatchObject({ ok: false, ref: 'F1', nif: '501964843', rows: [2] });
    expect(codes(invoice)).toEqual([finding]);
  });

  it.each([
    ['quantity', '0', 'warning quantity-not-positive 2 quantity'],
    ['unit_price', '-0.00', 'warning unit-price-not-positive 2 unit_price'],
    ['unit_price', '-1', 'warning unit-price-not-positive 2 unit_price'],
    ['tax_code', 'ISE', 'warning tax-code-unusual 2 tax_code'],
    ['description', 'P\u{fffd}o', 'warning replacement-character 2 description'],
  ] as const)('is valid with a warning when %s is %j', (column, cell, finding) => {
    const invoice = toInvoice([row(2, { [column]: cell })], CONVERSION);

    expect(invoice.ok).toBe(true);
    expect(codes(invoice)).toEqual([finding]);
  });

  it.each(['a\tb', 'a\nb', 'a\r\nb'])('keeps %j as it is', (description) => {
    expect(toInvoice([row(2, { description })], CONVERSION)).toMatchObject({
      ok: true,
      invoice: { lines: [{ description }] },
      findings: [],
    });
  });

  it.each(['customer_name', 'customer_tax_id', 'currency'] as const)(
    'is invalid when rows disagree in %s, and names both',
    (column) => {
      const invoice = toInvoice([row(2), row(5, { [column]: 'USD', description: 'Café' })], CONVERSION);

      expect(codes(invoice)).toEqual([`error ${column.replaceAll('_', '-')}-differs 5 ${column}`]);
      expect(invoice.findings[0]?.message).toMatch(/^Row 5, .*row 2/);
    },
  );

  it('takes a currency in another case for the same', () => {
    expect(toInvoice([row(2), row(3, { currency: 'eur', description: 'b' })], CONVERSION).findings).toEqual([]);
  });

  it('only warns when merchant details disagree, and uses the first there are', () => {
    const invoice = toInvoice(
      [
        row(2, { merchant_legal_name: '' }),
        row(3, { description: 'b' }),
        row(4, { merchant_legal_name: 'Other', description: 'c' }),
      ],
      CONVERSION,
    );

    expect(invoice).toMatchObject({ ok: true, invoice: { merchant: { legalName: 'Padaria' } } });
    expect(codes(invoice)).toEqual(['warning merchant-legal-name-differs 4 merchant_legal_name']);
  });

  it('leaves an absent tax number and absent merchant details out', () => {
    const invoice = toInvoice(
      [row(2, { customer_tax_id: null, merchant_legal_name: null, merchant_email: ' ' })],
      CONVERSION,
    );

    expect(invoice).toMatchObject({
      ok: true,
      invoice: { customer: { taxId: null }, merchant: { legalName: null, email: null } },
    });
  });

  it('refuses identical rows, and keeps them on demand', () => {
    const rows = [row(2), row(3, { description: ' Pão' })];

    expect(codes(toInvoice(rows, CONVERSION))).toEqual(['error row-repeated 3 invoice_ref']);
    expect(toInvoice(rows, { ...CONVERSION, duplicateRows: 'keep' })).toMatchObject({
      ok: true,
      invoice: { lines: [{}, {}] },
    });
  });

  it('refuses two JSON objects of one identity, whatever is kept', () => {
    const invoice = toInvoice([row(1, {}, 1), row(2, { description: 'b' }, 2)], {
      ...CONVERSION,
      format: 'json',
      duplicateRows: 'keep',
    });

    expect(invoice).toMatchObject({ ok: false, rows: [1, 2], net: '6', currency: 'EUR' });
    expect(codes(invoice)).toEqual(['error identity-repeated 2 invoice_ref']);
  });

  it('says nothing of the cells of a row whose cell count is wrong', () => {
    const damage = { row: 3, column: null, code: 'cell-count', message: 'm', severity: 'error' } as const;
    const invoice = toInvoice([row(2), row(3, { currency: 'x', quantity: 'y' })], {
      ...CONVERSION,
      damaged: { '3': [damage] },
    });

    expect(invoice).toMatchObject({ ok: false, rows: [2, 3], net: null, currency: 'EUR', findings: [damage] });
    expect(toInvoice([row(3)], { ...CONVERSION, damaged: { '3': [damage] } })).toMatchObject({
      ok: false,
      currency: null,
      net: null,
      findings: [damage],
    });
  });

  it('counts the net of an invalid invoice whose amounts can be read', () => {
    const readable = toInvoice(
      [row(2, { quantity: '0.1', unit_price: '0.2' }), row(3, { description: '' })],
      CONVERSION,
    );
    const unreadable = toInvoice([row(2, { quantity: 'x' }), row(3, { description: 'b' })], CONVERSION);

    expect(readable).toMatchObject({ ok: false, net: '3.02', currency: 'EUR' });
    expect(unreadable).toMatchObject({ ok: false, net: null, currency: 'EUR' });
  });

  it('reads exponents in JSON only, exactly and within bounds', () => {
    const json = { ...CONVERSION, format: 'json' } as const;

    expect(toInvoice([row(1, { quantity: '1.5e3', unit_price: '25E-2' })], json)).toMatchObject({
      ok: true,
      invoice: { lines: [{ quantity: '1500', unitPrice: '0.25' }] },
    });
    expect(codes(toInvoice([row(1, { quantity: '1e41' })], json))).toEqual(['error quantity-unreadable 1 quantity']);
    expect(codes(toInvoice([row(2, { quantity: '1e3' })], CONVERSION))).toEqual([
      'error quantity-unreadable 2 quantity',
    ]);
  });

  it('reads an exponent with a point, whatever mark its column has', () => {
    const json = {
      ...{ ...CONVERSION, format: 'json' as const },
      decimal: { quantity: ',', unit_price: ',' } as const,
      doubtful: { quantity: true, unit_price: true } as const,
    };

    expect(toInvoice([row(1, { quantity: '12345e-3', unit_price: '2,50' })], json)).toMatchObject({
      ok: true,
      invoice: { lines: [{ quantity: '12.345', unitPrice: '2.5' }] },
    });
  });

  it('warns once of a tax number without a valid check digit', () => {
    const rows = [row(2), row(3, { description: 'b' })].map((one) => ({ ...one, nif: '123456788' }));

    expect(codes(toInvoice(rows, CONVERSION))).toEqual(['warning nif-checksum 2 merchant_nif']);
  });

  it('names columns in the words of the file', () => {
    const invoice = toInvoice([row(2, { quantity: 'x' })], {
      ...CONVERSION,
      labels: { ...CONVERSION.labels, quantity: 'Qtd.' },
    });

    expect(invoice.findings[0]).toMatchObject({
      column: 'Qtd.',
      message: 'Row 2, Qtd.: expected a decimal number, found "x"',
    });
  });

  it('refuses an empty group, which is a mistake of the caller', () => {
    expect(() => toInvoice([], CONVERSION)).toThrow(RangeError);
  });
});
