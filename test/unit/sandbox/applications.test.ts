import { expect, it } from 'vitest';
import { call, errorOf, invoiceFor } from './support/client.ts';
import { sandbox } from './support/fixtures.ts';

const MERCHANT = { legal_name: 'Padaria Sol, Lda', nif: '5417000001', email: 'fiscal@example.test' };
const WEBHOOK = { url: 'https://example.test/hooks', events: ['invoice.issued'] };
const ONE = 'sk_test_one';

it('two applications share no merchant, key, invoice, webhook or books', async () => {
  const keys = [ONE, 'sk_test_two'];
  const { url, books } = await sandbox({ apiKeys: 'any' });
  /** The same request of both; the key is the same, too. */
  const both = (method: string, path: string, bodies: readonly unknown[] = []) =>
    Promise.all(keys.map((apiKey, at) => call(url, method, path, { apiKey, key: path, body: bodies[at] })));

  const merchants = await both('POST', '/v1/merchants', [MERCHANT, MERCHANT]);
  const [one = '', two = ''] = merchants.map(({ json }) => String(json['id']));
  const lists = await both('GET', '/v1/merchants');
  const foreign = await call(url, 'POST', '/v1/invoices', { apiKey: ONE, body: invoiceFor(two) });
  const invoices = await both('POST', '/v1/invoices', [invoiceFor(one), invoiceFor(two)]);
  const read = await both('GET', `/v1/invoices/${String(invoices[0]?.json['id'])}`);
  const hooks = await both('POST', '/v1/webhooks', [WEBHOOK, WEBHOOK]);
  const shown = await both('GET', '/_sandbox/books');

  expect([...merchants, ...invoices].map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(one).not.toBe(two);
  expect(lists.map(({ json }) => json['data'])).toMatchObject([[{ id: one }], [{ id: two }]]);
  expect(foreign.status).toBe(422);
  expect(errorOf(foreign)).toMatchObject({ code: 'merchant_not_found', field: 'merchant_id' });
  expect(read.map(({ status }) => status)).toEqual([200, 404]);
  expect(new Set(hooks.map(({ json }) => json['secret'])).size).toBe(2);
  expect(shown.map(({ json }) => json)).toMatchObject(
    invoices.map(({ json }) => ({ totals: { merchants: 1, invoices: 1 }, invoices: [{ id: json['id'] }] })),
  );
  expect(books().totals).toMatchObject({ merchants: 2, invoices: 2 });
  expect((await call(url, 'GET', '/_sandbox/books', { apiKey: 'sk_live_none' })).status).toBe(401);
});
