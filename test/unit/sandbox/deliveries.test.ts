import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store.ts';
import { call, invoiceFor, merchantIn, postInvoice } from './support/client.ts';
import type { Json } from './support/client.ts';
import { FAST_RETRIES, owedIn, receiver, register, sandbox } from './support/fixtures.ts';

async function createInvoices(box: Sandbox, count: number, taxCode = 'IVA_14'): Promise<readonly string[]> {
  const merchantId = await merchantIn(box.url);
  const replies = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      postInvoice(box.url, invoiceFor(merchantId, { taxCode, customer: `Buyer ${index}` })),
    ),
  );
  return replies.map(({ json }) => String(json['id']));
}

/** A sandbox with one registered receiver. */
async function withReceiver(answer?: Parameters<typeof receiver>[0], options: Partial<SandboxOptions> = {}) {
  const box = await sandbox(options);
  const hooks = await receiver(answer);
  return { box, hooks, received: hooks.received, secret: await register(box.url, hooks.url) };
}

function dataIdOf(body: string): string {
  return String(((JSON.parse(body) as Json)['data'] as Json)['id']);
}

describe('a delivery', () => {
  it('carries the event, signed over its raw bytes with the secret of the endpoint', async () => {
    const { box, received, secret } = await withReceiver();

    const [id] = await createInvoices(box, 1);

    await expect.poll(() => received.length).toBe(1);
    const [delivery] = received;
    expect(JSON.parse(delivery?.body ?? '')).toEqual({
      id: expect.stringMatching(/^evt_/) as unknown,
      type: 'invoice.issued',
      created_at: expect.any(String) as unknown,
      data: { id },
    });
    const expected = createHmac('sha256', secret)
      .update(Buffer.from(delivery?.body ?? ''))
      .digest('hex');
    expect(delivery?.headers['x-service-signature']).toBe(expected);
    expect(delivery?.headers['content-type']).toBe('application/json');
  });

  it('says why an invoice failed', async () => {
    const { box, received } = await withReceiver();

    const [id] = await createInvoices(box, 1, 'IVA_99');

    await expect.poll(() => received.length).toBe(1);
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      type: 'invoice.failed',
      data: { id, error: { code: 'tax_code_unknown', message: expect.stringContaining('lines[0]') as unknown } },
    });
  });

  it('is made for subscribed events only, and for endpoints of the same application only', async () => {
    const box = await sandbox({ apiKeys: 'any' });
    const failures = await receiver();
    const foreign = await receiver();
    await register(box.url, failures.url, ['invoice.failed']);
    const body = { url: foreign.url, events: ['invoice.issued'] };
    await call(box.url, 'POST', '/v1/webhooks', { body, apiKey: 'sk_test_other' });

    await createInvoices(box, 3);

    await expect.poll(() => box.books().totals.issued).toBe(3);
    expect(box.books().totals.deliveriesPending).toBe(0);
    expect(failures.received).toEqual([]);
    expect(foreign.received).toEqual([]);
  });

  it('is repeated with the same bytes until the receiver says 2xx', async () => {
    const { box, received } = await withReceiver((_, count) => ({ status: count < 5 ? 500 : 200 }));

    await createInvoices(box, 1);

    await expect.poll(() => box.books().totals.deliveriesPending === 0 && received.length).toBe(5);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });

  it('is given up after the last try, and the books say so', async () => {
    const { box, received } = await withReceiver(() => ({ status: 500 }));

    await createInvoices(box, 1);

    await expect.poll(() => box.books().totals.deliveriesGivenUp).toBe(1);
    await expect.poll(() => box.books().totals.deliveriesPending).toBe(0);
    expect(received).toHaveLength(FAST_RETRIES.maxAttempts);
  });

  it('is owed over a restart, with the tries that were spent', async () => {
    const store = memoryStore();
    let up = false;
    const { url, received } = await receiver(() => ({ status: up ? 200 : 500 }));
    const slow = { firstDelayMs: 60_000, longestDelayMs: 60_000, maxAttempts: 8 };
    const first = await sandbox({ store, webhooks: slow });
    const secret = await register(first.url, url);
    const ids = await createInvoices(first, 5);
    await expect.poll(async () => (await owedIn(store)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1]);
    await first.close();
    up = true;
    received.length = 0;

    const second = await sandbox({ store, clock: () => Date.now() + 120_000 });

    await expect.poll(() => second.books().totals.deliveriesPending).toBe(0);
    expect(received.map(({ body }) => dataIdOf(body)).toSorted()).toEqual(ids.toSorted());
    for (const { body, headers } of received) {
      expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    }
  });
});

describe('a restart', () => {
  it('settles what was processing, and tells about it', async () => {
    const store = memoryStore();
    const first = await sandbox({ store, settleMs: 3_600_000 });
    const { url, received } = await receiver();
    await register(first.url, url);
    const ids = await createInvoices(first, 3);
    await first.close();

    const second = await sandbox({ store, settleMs: 1 });

    await expect.poll(() => second.books().totals.issued).toBe(3);
    await expect.poll(() => received.length).toBe(3);
    expect(received.map(({ body }) => dataIdOf(body)).toSorted()).toEqual(ids.toSorted());
  });
});
