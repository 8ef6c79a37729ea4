import { describe, expect, it } from 'vitest';
import type { Invoice } from '../../../src/domain/invoice.ts';
import { invoiceBody } from '../../../src/service/invoice-body.ts';

const INVOICE: Invoice = {
  ref: 'A-1',
  merchant: { nif: '501964843', legalName: 'Loja, Lda', email: 'loja@example.org' },
  customer: { name: 'João "Zé"', taxId: '123456789' },
  currency: 'EUR',
  lines: [
    { description: 'Pão', quantity: '2', unitPrice: '0.1', taxCode: 'IVA_6' },
    { description: 'Vidro', quantity: '0.000000000000000000001', unitPrice: '90071992547409931.5', taxCode: 'IVA_23' },
  ],
};

describe('invoiceBody', () => {
  it('gives exactly these bytes', () => {
    expect(invoiceBody(INVOICE, 'mrc_1')).toBe(
      '{"merchant_id":"mrc_1","customer":{"name":"João \\"Zé\\"","tax_id":"123456789"},"currency":"EUR","lines":[' +
        '{"description":"Pão","quantity":2,"unit_price":0.1,"tax_code":"IVA_6"},' +
        '{"description":"Vidro","quantity":0.000000000000000000001,"unit_price":90071992547409931.5,"tax_code":"IVA_23"}]}',
    );
  });

  it.each([null, ''])('leaves out a tax number that is %j', (taxId) => {
    const body = invoiceBody({ ...INVOICE, customer: { name: 'Ana', taxId } }, 'mrc_1');

    expect(JSON.parse(body)).toHaveProperty('customer', { name: 'Ana' });
  });

  it('sends nothing that the interface does not publish', () => {
    const body = invoiceBody(INVOICE, 'mrc_1');

    expect(body).not.toMatch(/A-1|501964843|Loja|example\.org/);
  });

  it('refuses an amount that is not a canonical decimal rather than sending it', () => {
    const lines = INVOICE.lines.map((line) => ({ ...line, unitPrice: '1,5' }));

    expect(() => invoiceBody({ ...INVOICE, lines }, 'mrc_1')).toThrow(/canonical decimal/);
  });
});
