import { describe, expect, it } from 'vitest';
import { call, errorOf, merchantIn } from './support/client.ts';
import type { Json } from './support/client.ts';
import { sandbox } from './support/fixtures.ts';

const MERCHANT = { legal_name: 'Padaria Sol, Lda', nif: '5417000001', email: 'fiscal@example.test' };

it('POST /v1/merchants refuses the same NIF again with 409, even at the same moment', async () => {
  const box = await sandbox({ latencyMs: 5 });

  const replies = await Promise.all(
    ['a', 'b', 'c'].map((key) => call(box.url, 'POST', '/v1/merchants', { body: MERCHANT, key })),
  );

  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  const refused = replies.filter(({ status }) => status === 409);
  expect(refused.map((reply) => errorOf(reply)['code'])).toEqual(['merchant_exists', 'merchant_exists']);
  expect(box.books().totals.merchants).toBe(1);
});

describe('GET /v1/merchants', () => {
  async function listed(url: string, query = ''): Promise<Json> {
    const reply = await call(url, 'GET', `/v1/merchants${query}`);
    expect(reply.status).toBe(200);
    return reply.json;
  }

  it('gives every merchant once, in pages of 100, while others are added', async () => {
    const { url } = await sandbox();
    for (let nif = 1; nif <= 150; nif += 1) await merchantIn(url, String(nif));

    const first = await listed(url);
    await merchantIn(url, '151');
    const second = await listed(url, `?cursor=${String(first['next_cursor'])}`);

    expect(first['data']).toHaveLength(100);
    const nifs = [first, second].flatMap(({ data }) => (data as Json[]).map(({ nif }) => nif));
    expect(nifs).toEqual(Array.from({ length: 151 }, (_, index) => String(index + 1)));
    expect(second['next_cursor']).toBeNull();
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=101'],
    ['limit', '?limit=ten'],
    ['cursor', '?cursor=5'],
    ['cursor', '?cursor='],
  ])('refuses a wrong %s: %s', async (field, query) => {
    const { url } = await sandbox();

    const reply = await call(url, 'GET', `/v1/merchants${query}`);

    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'query_invalid', field });
  });
});

const WEBHOOK = { url: 'https://example.test/hooks', events: ['invoice.issued'] };

describe('POST /v1/webhooks', () => {
  it('gives the same endpoint and secret for the same address, with the new events', async () => {
    const { url, books } = await sandbox();
    const first = await call(url, 'POST', '/v1/webhooks', { body: WEBHOOK });

    const second = await call(url, 'POST', '/v1/webhooks', { body: { ...WEBHOOK, events: ['invoice.failed'] } });

    expect(second.status).toBe(200);
    expect(second.json).toEqual({ ...first.json, events: ['invoice.failed'] });
    expect(books().totals.webhooks).toBe(1);
  });

  it('makes one endpoint of two requests at the same moment', async () => {
    const { url, books } = await sandbox();

    const replies = await Promise.all([1, 2, 3].map(() => call(url, 'POST', '/v1/webhooks', { body: WEBHOOK })));

    expect(new Set(replies.map(({ json }) => json['secret'])).size).toBe(1);
    expect(books().totals.webhooks).toBe(1);
  });
});
