import { describe, expect, it } from 'vitest';
import type { ZodType } from 'zod';
import { readAs } from '../../../src/sandbox/field.ts';
import { Refusal } from '../../../src/sandbox/http/answer.ts';
import { InvoiceBody } from '../../../src/sandbox/engine.ts';
import { MerchantBody, WebhookBody } from '../../../src/sandbox/operations.ts';
import { errorOf, invoiceFor, type Json } from './support/client.ts';

/** The error of the refusal; null if the body is taken. */
function refusalOf(schema: ZodType, value: unknown): Json | null {
  try {
    readAs(value, schema);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return errorOf({ json: JSON.parse(error.answer.body) as Json });
  }
}

const LINE: Json = { description: 'Service', quantity: 2, unit_price: 10.5, tax_code: 'IVA_14' };
const WEBHOOK: Json = { url: 'https://example.test/hooks', events: ['invoice.issued'] };

const invoice = (changes: Json): Json => ({ ...invoiceFor('mrc_1'), ...changes });
const line = (changes: Json): Json => invoice({ lines: [LINE, { ...LINE, ...changes }] });
const PROTO: unknown = JSON.parse(JSON.stringify(invoice({})).replace('{', '{"__proto__":1,'));

describe('a refused body names the first wrong field', () => {
  // Which bodies are taken is compared with the OpenAPI document, in openapi.test.ts.
  it.each<[string, ZodType, unknown, string]>([
    ['1,001 lines', InvoiceBody, invoice({ lines: Array.from({ length: 1001 }, () => LINE) }), 'field_invalid lines'],
    ['a line that is no object', InvoiceBody, invoice({ lines: [LINE, null] }), 'field_invalid lines[1]'],
    ['a decimal in quotes', InvoiceBody, line({ unit_price: '10.5' }), 'field_invalid lines[1].unit_price'],
    ['a control character', InvoiceBody, line({ description: 'a\u0000b' }), 'field_invalid lines[1].description'],
    ['an unknown field', InvoiceBody, line({ discount: 1 }), 'field_unknown lines[1].discount'],
    ['a __proto__', InvoiceBody, PROTO, 'field_unknown __proto__'],
    [
      'an inherited name',
      InvoiceBody,
      invoice({ customer: { name: 'B', toString: 1 } }),
      'field_unknown customer.toString',
    ],
    ['a customer without a name', InvoiceBody, invoice({ customer: {} }), 'field_missing customer.name'],
    ['nothing', InvoiceBody, undefined, 'field_invalid body'],
    ['no e-mail', MerchantBody, { legal_name: 'Sol', nif: '1' }, 'field_missing email'],
    [
      'an unknown event',
      WebhookBody,
      { ...WEBHOOK, events: ['invoice.issued', 'invoice.paid'] },
      'field_invalid events[1]',
    ],
  ])('%s', (_, schema, body, expected) => {
    const error = refusalOf(schema, body);

    expect(`${String(error?.['code'])} ${String(error?.['field'])}`).toBe(expected);
  });

  it('and never repeats a value in its message', () => {
    const error = refusalOf(InvoiceBody, invoice({ currency: 'secret', customer: { name: 'secret' } }));

    expect(error?.['message']).not.toContain('secret');
  });
});
