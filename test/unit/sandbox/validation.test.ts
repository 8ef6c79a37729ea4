import { describe, expect, it } from 'vitest';
import { readInvoiceBody } from '../../../src/sandbox/invoice-body.ts';
import { readMerchantBody } from '../../../src/sandbox/merchants.ts';
import { readWebhookBody } from '../../../src/sandbox/register-webhook.ts';
import { invoiceFor, type Json } from './support/client.ts';

type Outcome = 'good' | `${string} ${string}`;

/** `good`, or the code and the field of the first problem. */
function outcomeOf(
  read: ReturnType<typeof readInvoiceBody | typeof readMerchantBody | typeof readWebhookBody>,
): Outcome {
  return read.ok ? 'good' : `${read.problem.code} ${read.problem.field}`;
}

const LINE: Json = { description: 'Service', quantity: 2, unit_price: 10.5, tax_code: 'IVA_14' };

function invoice(changes: Json): Json {
  return { ...invoiceFor('mrc_1'), ...changes };
}

function line(changes: Json): Json {
  return invoice({ lines: [LINE, { ...LINE, ...changes }] });
}

describe('readInvoiceBody', () => {
  it.each<[string, unknown, Outcome]>([
    ['every published field', invoice({}), 'good'],
    ['no tax_id', invoice({ customer: { name: 'Buyer' } }), 'good'],
    ['negative and zero amounts', line({ quantity: -1, unit_price: 0 }), 'good'],
    ['any tax code', line({ tax_code: 'EXEMPT' }), 'good'],
    ['line ends in a description', line({ description: 'one\r\ntwo\tthree' }), 'good'],
    ['1,000 lines', invoice({ lines: Array.from({ length: 1000 }, () => LINE) }), 'good'],
    ['1,001 lines', invoice({ lines: Array.from({ length: 1001 }, () => LINE) }), 'field_invalid lines'],
    ['no lines', invoice({ lines: [] }), 'field_invalid lines'],
    ['lines that are no array', invoice({ lines: { 0: LINE } }), 'field_invalid lines'],
    ['a line that is no object', invoice({ lines: [LINE, null] }), 'field_invalid lines[1]'],
    ['a decimal in quotes', line({ unit_price: '10.5' }), 'field_invalid lines[1].unit_price'],
    ['a quantity of null', line({ quantity: null }), 'field_invalid lines[1].quantity'],
    ['a quantity too large for a float', line({ quantity: JSON.parse('1e400') }), 'field_invalid lines[1].quantity'],
    ['an empty tax code', line({ tax_code: '' }), 'field_invalid lines[1].tax_code'],
    ['a description of blanks', line({ description: '   ' }), 'field_invalid lines[1].description'],
    ['a control character', line({ description: 'a\u0000b' }), 'field_invalid lines[1].description'],
    ['a field of its own', line({ discount: 1 }), 'field_unknown lines[1].discount'],
    ['an id', invoice({ id: 'inv_1' }), 'field_unknown id'],
    ['a status', invoice({ status: 'issued' }), 'field_unknown status'],
    ['a __proto__', JSON.parse(JSON.stringify(invoice({})).replace('{', '{"__proto__":1,')), 'field_unknown __proto__'],
    ['another identifier', invoice({ merchant_id: 'inv_1' }), 'field_invalid merchant_id'],
    ['a currency in small letters', invoice({ currency: 'eur' }), 'field_invalid currency'],
    ['a customer without a name', invoice({ customer: {} }), 'field_missing customer.name'],
    ['a customer that is text', invoice({ customer: 'Buyer' }), 'field_invalid customer'],
    ['an empty tax_id', invoice({ customer: { name: 'B', tax_id: '' } }), 'field_invalid customer.tax_id'],
    [
      'a toString in the customer',
      invoice({ customer: { name: 'B', toString: 1 } }),
      'field_unknown customer.toString',
    ],
    ['nothing', undefined, 'field_invalid '],
    ['null', null, 'field_invalid '],
    ['an array', [invoice({})], 'field_invalid '],
    ['text', 'invoice', 'field_invalid '],
  ])('%s', (_, body, expected) => {
    expect(outcomeOf(readInvoiceBody(body))).toBe(expected);
  });

  it.each(['merchant_id', 'customer', 'currency', 'lines'])('misses %s', (name) => {
    const { [name]: _, ...rest } = invoice({});

    expect(outcomeOf(readInvoiceBody(rest))).toBe(`field_missing ${name}`);
  });

  it.each(['description', 'quantity', 'unit_price', 'tax_code'])('misses %s of a line', (name) => {
    const { [name]: _, ...rest } = LINE;

    expect(outcomeOf(readInvoiceBody(invoice({ lines: [rest] })))).toBe(`field_missing lines[0].${name}`);
  });

  it('never repeats a value in its message', () => {
    const read = readInvoiceBody(invoice({ currency: 'secret', customer: { name: 'secret' } }));

    expect(read.ok ? '' : read.problem.message).not.toContain('secret');
  });
});

describe('readMerchantBody', () => {
  const merchant = { legal_name: 'Sol', nif: '5417000001', email: 'a@example.test' };

  it.each<[string, unknown, Outcome]>([
    ['every published field', merchant, 'good'],
    ['a NIF with a letter', { ...merchant, nif: '54170000LA' }, 'field_invalid nif'],
    ['a NIF that is a number', { ...merchant, nif: 5417000001 }, 'field_invalid nif'],
    ['an empty NIF', { ...merchant, nif: '' }, 'field_invalid nif'],
    ['a NIF with a line end', { ...merchant, nif: '1\n' }, 'field_invalid nif'],
    ['an address without @', { ...merchant, email: 'example.test' }, 'field_invalid email'],
    ['an empty name', { ...merchant, legal_name: '' }, 'field_invalid legal_name'],
    ['no e-mail', { legal_name: 'Sol', nif: '1' }, 'field_missing email'],
    ['a phone', { ...merchant, phone: '1' }, 'field_unknown phone'],
  ])('%s', (_, body, expected) => {
    expect(outcomeOf(readMerchantBody(body))).toBe(expected);
  });
});

describe('readWebhookBody', () => {
  const webhook = { url: 'https://example.test/hooks', events: ['invoice.issued'] };

  it.each<[string, unknown, Outcome]>([
    ['an https address', webhook, 'good'],
    ['http on 127.0.0.1', { ...webhook, url: 'http://127.0.0.1:8090/webhooks' }, 'good'],
    ['http on ::1', { ...webhook, url: 'http://[::1]:8090/webhooks' }, 'good'],
    ['http elsewhere', { ...webhook, url: 'http://example.test/hooks' }, 'field_invalid url'],
    [
      'a host that only begins like loopback',
      { ...webhook, url: 'http://127.0.0.1.example.test/' },
      'field_invalid url',
    ],
    ['credentials in the address', { ...webhook, url: 'https://a:b@example.test/' }, 'field_invalid url'],
    ['another scheme', { ...webhook, url: 'file:///etc/passwd' }, 'field_invalid url'],
    ['no address', { ...webhook, url: 'hooks' }, 'field_invalid url'],
    ['both events', { ...webhook, events: ['invoice.failed', 'invoice.issued'] }, 'good'],
    ['no event', { ...webhook, events: [] }, 'field_invalid events'],
    ['an unknown event', { ...webhook, events: ['invoice.issued', 'invoice.paid'] }, 'field_invalid events[1]'],
    ['no events', { url: webhook.url }, 'field_missing events'],
  ])('%s', (_, body, expected) => {
    expect(outcomeOf(readWebhookBody(body))).toBe(expected);
  });
});
