import { describe, expect, it } from 'vitest';
import { merchantBody, webhookBody } from '../../../src/service/client.ts';
import { templateMistake } from '../../../src/service/profile/body-template.ts';
import { invoiceBody } from '../../../src/service/invoice-body.ts';

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

  it('leaves out a member whose value the invoice does not have', () => {
    expect(invoiceBody(INVOICE, 'mrc_1', { tax: '{customer.tax_id}', note: 'NIF {customer.tax_id}' })).toBe(
      '{"note":"NIF "}',
    );
  });

  it('leaves it out as well where the template asks for a text or a number', () => {
    expect(invoiceBody(INVOICE, 'mrc_1', { tax: '{customer.tax_id:text}', nif: '{customer.tax_id:number}' })).toBe(
      '{}',
    );
  });

  it('joins several values to one text', () => {
    expect(invoiceBody(INVOICE, 'mrc_1', { document: '{currency}{reference}' })).toBe('{"document":"EURFT 1/7"}');
  });

  it('writes an id as a number where the template asks for it, and only if it is one', () => {
    expect(invoiceBody(INVOICE, '42', { merchant: '{merchant_id:number}' })).toBe('{"merchant":42}');
    expect(invoiceBody(INVOICE, '007', { merchant: '{merchant_id:number}' })).toBe('{"merchant":"007"}');
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
