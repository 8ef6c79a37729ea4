import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../../src/sandbox/store.ts';
import { call, errorOf, invoiceFor, merchantIn, postInvoice } from './support/client.ts';
import { sandbox, withMerchant } from './support/fixtures.ts';

describe('an Idempotency-Key', () => {
  it('gives the same request the same answer, byte for byte, after the invoice has settled too', async () => {
    const { url, books, body } = await withMerchant();
    const first = await postInvoice(url, body, 'k');
    await expect.poll(() => books().totals.issued).toBe(1);

    const second = await postInvoice(url, body, 'k');

    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(books().totals.invoices).toBe(1);
  });

  it('refuses other bytes with 422 idempotency_mismatch, be it only white space', async () => {
    const { url, books } = await sandbox();
    const body = JSON.stringify(invoiceFor(await merchantIn(url)));
    await postInvoice(url, body, 'k');

    const reply = await postInvoice(url, `${body} `, 'k');

    expect(reply.status).toBe(422);
    expect(errorOf(reply)['code']).toBe('idempotency_mismatch');
    expect(books().totals.invoices).toBe(1);
  });

  it('refuses the same key on the other operation', async () => {
    const { url } = await sandbox();
    const body = { legal_name: 'One', nif: '1', email: 'a@example.test' };
    await call(url, 'POST', '/v1/merchants', { body, key: 'k' });

    const reply = await postInvoice(url, body, 'k');

    expect(errorOf(reply)['code']).toBe('idempotency_mismatch');
  });

  it('answers 409 while a request with the key is being answered', async () => {
    const { url, books, body } = await withMerchant({ latencyMs: 100 });

    const replies = await Promise.all([1, 2, 3].map(() => postInvoice(url, body, 'k')));

    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
    const busy = replies.find(({ status }) => status === 409);
    expect(busy && errorOf(busy)['code']).toBe('idempotency_in_progress');
    expect(busy?.headers.get('retry-after')).toBe('1');
    expect(books().totals.invoices).toBe(1);
  });

  it('is not used up by a request that was refused', async () => {
    const { url, body } = await withMerchant();

    const refused = await postInvoice(url, { ...body, currency: 'eur' }, 'k');
    const corrected = await postInvoice(url, body, 'k');

    expect([refused.status, corrected.status]).toEqual([422, 201]);
  });

  it('is forgotten after 24 hours, and not before, over a restart too', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const store = memoryStore();
    const first = await sandbox({ store, clock: () => now });
    const body = invoiceFor(await merchantIn(first.url));
    const created = await postInvoice(first.url, body, 'k');
    await first.close();
    const second = await sandbox({ store, clock: () => now });

    now += 24 * 3_600_000;
    const inTime = await postInvoice(second.url, body, 'k');
    now += 1;
    const tooLate = await postInvoice(second.url, body, 'k');

    expect(inTime.json['id']).toBe(created.json['id']);
    expect(tooLate.status).toBe(201);
    expect(tooLate.json['id']).not.toBe(created.json['id']);
  });
});

it('the books show two invoices with the same bytes as duplicates, and two keys as what they are', async () => {
  const { merchantId, ...box } = await withMerchant();
  const body = invoiceFor(merchantId);
  const one = await postInvoice(box.url, body, 'k1');
  const two = await postInvoice(box.url, body, 'k2');
  await postInvoice(box.url, invoiceFor(merchantId, { customer: 'Other' }), 'k3');

  const reply = await call(box.url, 'GET', '/_sandbox/books');

  expect(reply.json).toMatchObject({
    totals: { invoices: 3, merchants: 1 },
    duplicates: [{ by: 'body', ids: [one.json['id'], two.json['id']] }],
  });
  expect(box.books().duplicates).toHaveLength(1);
  expect(box.books().invoices.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k1', 'k2', 'k3']);
});
