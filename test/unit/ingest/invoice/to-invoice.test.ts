import { describe, expect, it } from 'vitest';
import { COLUMNS, type Column, type GroupedInvoice, type RawRow } from '../../../../src/domain/row.ts';
import type { Conversion } from '../../../../src/ingest/ingest-result.ts';
import { toInvoice, toInvoices } from '../../../../src/ingest/invoice/to-invoice.ts';
import { damagedReference, hasValidChecksum, nifProblem, normalNif } from '../../../../src/ingest/invoice/identity.ts';

const CONVERSION: Conversion = {
  format: 'csv',
  decimal: '.',
  duplicateRows: 'refuse',
  lookAlikes: 'refuse',
  labels: Object.fromEntries(COLUMNS.map((column) => [column, column])) as Record<Column, string>,
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
  const references = [row(2), { ...row(3), ref: 'F\u200b1' }, row(4, { description: 'Queijo' })];
  const zeros = [row(2), { ...row(3), nif: '0501964843' }, row(4, { description: 'Queijo' })];

  it.each([
    ['references', references, 'reference-look-alike', 'invoice_ref', 'F<U+200B>1'],
    ['tax numbers', zeros, 'nif-look-alike', 'merchant_nif', 'of row 3 only in the zeros in front'],
  ])(
    'makes all invoices invalid whose %s look alike: a row of one may belong to the other',
    (_, group, code, at, said) => {
      const invoices = toInvoices(group, CONVERSION);

      expect(invoices.map(({ ok, rows }) => [ok, rows])).toEqual([
        [false, [2, 4]],
        [false, [3]],
      ]);
      expect(invoices.map((one) => codes(one)[0])).toEqual([`error ${code} 2 ${at}`, `error ${code} 3 ${at}`]);
      expect(invoices[0]?.findings[0]?.message).toContain(said);
      expect(toInvoices(group, { ...CONVERSION, lookAlikes: 'keep' }).map(({ ok }) => ok)).toEqual([true, true]);
    },
  );
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

  it.each([
    ['customer_tax_id', '210484276.0', 'error customer-tax-id-damaged 2 customer_tax_id'],
    ['invoice_ref', 'F\u{fffd}1', 'error character-lost 2 invoice_ref'],
    ['customer_tax_id', '21\u{fffd}', 'error character-lost 2 customer_tax_id'],
    ['merchant_email', 'a\u009fb', 'error control-character 2 merchant_email'],
  ] as const)('is invalid when %s is %j', (column, cell, finding) => {
    expect(codes(toInvoice([row(2, { [column]: cell })], CONVERSION))).toEqual([finding]);
  });

  it.each(['a\tb', 'a\nb', 'a\r\nb'])('keeps %j as it is', (description) => {
    expect(toInvoice([row(2, { description })], CONVERSION)).toMatchObject({
      ok: true,
      invoice: { lines: [{ description }] },
      findings: [],
    });
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

  it('reads exponents in JSON only, exactly, within bounds, and with a point whatever mark its column has', () => {
    const json = { ...CONVERSION, format: 'json', decimal: ',' } as const;
    const unreadable = ['error quantity-unreadable 2 quantity'];

    expect(toInvoice([row(1, { quantity: '12345e-3', unit_price: '2,50' })], json)).toMatchObject({
      ok: true,
      invoice: { lines: [{ quantity: '12.345', unitPrice: '2.5' }] },
    });
    expect(codes(toInvoice([row(2, { quantity: '1e41', unit_price: '1' })], json))).toEqual(unreadable);
    expect(codes(toInvoice([row(2, { quantity: '1e3' })], CONVERSION))).toEqual(unreadable);
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
});

describe('identity of a row', () => {
  it('takes spaces out of a tax number, and nothing else', () => {
    expect(normalNif(' 501 964\u00a0843 ')).toBe('501964843');
    for (const cell of ['', ' ', 'PT501964843', '501-964-843', '501.964.843', '٥٠١', '1'.repeat(21)])
      expect(normalNif(cell)).toBeNull();
  });

  it('does not repeat a cell of any length', () => {
    expect(nifProblem('x'.repeat(10_000))?.message.length).toBeLessThan(120);
  });

  it.each(['501964843', '502757191', '210484276'])('accepts no other check digit than that of %s', (nif) => {
    const all = Array.from({ length: 10 }, (_, digit) => nif.slice(0, 8) + digit);

    expect(all.filter(hasValidChecksum)).toEqual([nif]);
  });

  it.each(['FT 2026/1', '2026/001', '1E5', '12-2026', '0001', '2026-1'])('leaves the reference %j alone', (ref) => {
    expect(damagedReference(ref)).toBeNull();
  });

  it.each(['01/02/2026', '1-2-2026', '2026-02-01', '2026-02-01 00:00:00', '1.2E+05'])('does not take %j', (ref) => {
    expect(damagedReference(ref)).not.toBeNull();
  });
});
