import { describe, expect, it } from 'vitest';
import type { Invoice } from '../../../src/domain/invoice.ts';
import { merchantBody, webhookBody } from '../../../src/service/client.ts';
import { invoiceBody, templateMistake } from '../../../src/service/profile/body-template.ts';

const INVOICE = {
  ref: 'FT 1/7',
  merchant: { nif: '500000000', legalName: 'Café, Lda.', email: null },
  customer: { name: 'Ana "Té"', taxId: null },
  currency: 'EUR',
  lines: [
    { description: 'Café', quantity: '2', unitPrice: '0.1', taxCode: 'IVA_23' },
    { description: 'Chá', quantity: '1', unitPrice: '12345678901234567890.01', taxCode: 'IVA_6' },
  ],
};

const LINE = {
  $each: 'lines',
  text: '{description}',
  qty: '{quantity:text}',
  price: '{unit_price}',
  vat: 'PT-{tax_code}',
};

describe('fillTemplate', () => {
  it('wraps, renames, adds constants and keeps the digits of amounts', () => {
    const template = {
      data: {
        type: 'invoice',
        live: true,
        version: 2,
        none: null,
        attributes: { merchant: '{merchant_id}', buyer: '{customer.name}', rows: [LINE] },
      },
    };

    expect(invoiceBody(INVOICE, 'mrc_1', template)).toBe(
      '{"data":{"type":"invoice","live":true,"version":2,"none":null,"attributes":{"merchant":"mrc_1","buyer":"Ana \\"Té\\"","rows":[' +
        '{"text":"Café","qty":"2","price":0.1,"vat":"PT-IVA_23"},' +
        '{"text":"Chá","qty":"1","price":12345678901234567890.01,"vat":"PT-IVA_6"}]}}}',
    );
  });

  it.each([
    [{ tax: '{customer.tax_id}', note: 'NIF {customer.tax_id}' }, '7', '{"note":"NIF "}'],
    [{ tax: '{customer.tax_id:text}', nif: '{customer.tax_id:number}' }, '7', '{}'],
    [{ document: '{currency}{reference}' }, '7', '{"document":"EURFT 1/7"}'],
    [{ merchant: '{merchant_id:number}' }, '42', '{"merchant":42}'],
    [{ merchant: '{merchant_id:number}' }, '007', '{"merchant":"007"}'],
  ])('leaves out what is not there, joins texts, and writes numbers that are some: %j', (template, id, body) => {
    expect(invoiceBody(INVOICE, id, template)).toBe(body);
  });

  it('writes the other bodies: a merchant without an address, and a receiver for both events', () => {
    const merchant = { vat: '{nif}', name: '{legal_name}', mail: '{email}' };

    expect(merchantBody({ nif: '501964843', legalName: 'Loja', email: '' }, merchant)).toBe(
      '{"vat":"501964843","name":"Loja"}',
    );
    expect(webhookBody('https://a.example', { target: '{url}', on: '{events}' })).toBe(
      '{"target":"https://a.example","on":["invoice.issued","invoice.failed"]}',
    );
  });
});

describe('templateMistake', () => {
  const whole = { m: '{merchant_id}', c: '{customer.name}', l: [LINE] };

  it('finds none in a template that says everything', () => {
    expect(templateMistake(whole, 'invoice')).toBeNull();
  });

  it.each([
    [{ ...whole, x: '{nif}' }, 'found {nif}'],
    [{ ...whole, x: '{unit_price}' }, 'found {unit_price}'],
    [{ ...whole, x: '{currency:cents}' }, ':text or :number'],
    [{ ...whole, x: { $each: 'lines' } }, 'alone in a list'],
    [{ ...whole, x: [{ $each: 'rows' }] }, 'must name "lines"'],
    [{ m: '{merchant_id}', c: '{customer.name}' }, 'must hold {description}'],
  ])('says what is wrong with %j', (template, mistake) => {
    expect(templateMistake(template, 'invoice')).toContain(mistake);
  });

  it('knows the names of each body', () => {
    expect(templateMistake({ a: '{legal_name}', b: '{nif}' }, 'merchant')).toBeNull();
    expect(templateMistake({ a: '{nif}' }, 'merchant')).toBe('must hold {legal_name}');
    expect(templateMistake({ a: '{merchant_id}' }, 'webhook')).toContain('found {merchant_id}');
  });
});

const FULL: Invoice = {
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
    expect(invoiceBody(FULL, 'mrc_1')).toBe(
      '{"merchant_id":"mrc_1","customer":{"name":"João \\"Zé\\"","tax_id":"123456789"},"currency":"EUR","lines":[' +
        '{"description":"Pão","quantity":2,"unit_price":0.1,"tax_code":"IVA_6"},' +
        '{"description":"Vidro","quantity":0.000000000000000000001,"unit_price":90071992547409931.5,"tax_code":"IVA_23"}]}',
    );
  });

  it.each([null, ''])('leaves out a tax number that is %j', (taxId) => {
    const body = invoiceBody({ ...FULL, customer: { name: 'Ana', taxId } }, 'mrc_1');

    expect(JSON.parse(body)).toHaveProperty('customer', { name: 'Ana' });
  });

  it('sends nothing that the interface does not publish', () => {
    const body = invoiceBody(FULL, 'mrc_1');

    expect(body).not.toMatch(/A-1|501964843|Loja|example\.org/);
  });

  it('refuses an amount that is not a canonical decimal rather than sending it', () => {
    const lines = FULL.lines.map((line) => ({ ...line, unitPrice: '1,5' }));

    expect(() => invoiceBody({ ...FULL, lines }, 'mrc_1')).toThrow(/canonical decimal/);
  });
});
