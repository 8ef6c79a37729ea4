import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createChance } from '../../../src/sandbox/chance.ts';
import { HEAVY_FAULTS, checkedFaults, parseFaults } from '../../../src/sandbox/faults.ts';
import type { Faults } from '../../../src/sandbox/faults.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store/memory-store.ts';
import { call, errorOf, invoiceFor, merchantIn } from '../../unit/sandbox/support/client.ts';
import type { Json, Reply } from '../../unit/sandbox/support/client.ts';
import { receiver, register, sandbox } from '../../unit/sandbox/support/fixtures.ts';
import type { Receiver, ReceivedDelivery } from '../../unit/sandbox/support/fixtures.ts';

/** A sandbox with one merchant that was made before the faults began. */
async function faulty(
  faults: Partial<Faults>,
  more: { seed?: number } = {},
): Promise<Sandbox & { readonly merchantId: string }> {
  const store = memoryStore();
  const calm = await sandbox({ store });
  const merchantId = await merchantIn(calm.url);
  await calm.close();
  return { ...(await sandbox({ store, faults, ...more })), merchantId };
}

function post(box: { readonly url: string; readonly merchantId: string }, key: string): Promise<Reply> {
  return call(box.url, 'POST', '/v1/invoices', { body: invoiceFor(box.merchantId, { customer: key }), key });
}

function typesOf({ received }: Receiver): readonly string[] {
  return received.map(({ body }) => String((JSON.parse(body) as Json)['type']));
}

function isSigned({ body, headers }: ReceivedDelivery, secret: string): boolean {
  return headers['x-service-signature'] === createHmac('sha256', secret).update(body).digest('hex');
}

describe('parseFaults', () => {
  it('is without faults for an empty text and for none', () => {
    expect(parseFaults('')).toEqual(checkedFaults());
    expect(parseFaults('none')).toEqual(checkedFaults({}));
    expect(parseFaults('{}')).toMatchObject({ lostAfterCreate: 0, outage: null });
  });

  it('reads JSON and the preset', () => {
    expect(parseFaults('{"status429":0.5,"outage":{"afterRequests":3,"lastsMs":10}}')).toMatchObject({
      status429: 0.5,
      lostAfterCreate: 0,
      outage: { afterRequests: 3, lastsMs: 10 },
    });
    expect(parseFaults('heavy')).toBe(HEAVY_FAULTS);
  });

  it.each([
    ['{', 'expected a JSON object'],
    ['light', 'expected a JSON object'],
    ['[]', 'the object'],
    ['{"status429":2}', 'status429'],
    ['{"status429":"often"}', 'status429'],
    ['{"statsu429":0.1}', 'statsu429'],
    ['{"outage":{"lastsMs":1}}', 'outage.afterRequests'],
  ])('refuses %s and says where', (text, where) => {
    expect(() => parseFaults(text)).toThrow(where);
  });
});

describe('chance', () => {
  const half = checkedFaults({ status429: 0.5, listFailure: 0.5 });
  const subjects = Array.from({ length: 1000 }, (_, index) => `subject ${index}`);

  it('decides the same for the same seed, in any order', () => {
    const one = createChance(half, 'seed');
    const two = createChance(half, 'seed');

    const forth = subjects.map((subject) => one.decide('status429', subject));
    const back = subjects.toReversed().map((subject) => two.decide('status429', subject));

    expect(back.toReversed()).toEqual(forth);
  });

  it('decides otherwise for another seed, another fault and another visit', () => {
    const one = createChance(half, 'seed');
    const other = createChance(half, 'other');
    const first = subjects.map((subject) => one.decideAgain('status429', subject));

    expect(subjects.map((subject) => other.decideAgain('status429', subject))).not.toEqual(first);
    expect(subjects.map((subject) => one.decideAgain('listFailure', subject))).not.toEqual(first);
    expect(subjects.map((subject) => one.decideAgain('status429', subject))).not.toEqual(first);
  });

  it('keeps to the probability', () => {
    const chance = createChance(checkedFaults({ status429: 0.2 }), 'seed');
    const hits = subjects.filter((subject) => chance.decide('status429', subject)).length;

    expect(hits).toBeGreaterThan(150);
    expect(hits).toBeLessThan(250);
    expect(subjects.filter((subject) => chance.decide('slowDrip', subject))).toEqual([]);
  });
});

describe('a lost answer', () => {
  it('before the create leaves nothing behind', async () => {
    const box = await faulty({ lostBeforeCreate: 1 });

    await expect(post(box, 'a')).rejects.toThrow('fetch failed');

    expect(box.books().totals.invoices).toBe(0);
  });

  it('after the create leaves the invoice, and the key finds it when the line is better', async () => {
    const box = await faulty({ lostAfterCreate: 0.5 });
    const lost: string[] = [];
    for (let number = 0; number < 20; number += 1) {
      await post(box, `k${number}`).catch(() => lost.push(`k${number}`));
    }
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThan(20);
    expect(box.books().totals.invoices).toBe(20);

    for (const key of lost) {
      await expect
        .poll(() =>
          post(box, key).then(
            ({ status }) => status,
            () => 'lost',
          ),
        )
        .toBe(201);
    }

    expect(box.books().totals.invoices).toBe(20);
    expect(box.books().duplicates).toEqual([]);
  });

  it('falls on the same requests in every run of a seed, and on others with another', async () => {
    async function lostWith(seed: number): Promise<readonly string[]> {
      const box = await faulty({ lostBeforeCreate: 0.3 }, { seed });
      const lost: string[] = [];
      const bodies = Array.from({ length: 30 }, (_, index) => ({
        legal_name: 'M',
        nif: String(index),
        email: 'a@b.test',
      }));
      // Merchants, whose bytes hold no identifier, so that two runs send the same.
      await Promise.all(
        bodies.map((body) =>
          call(box.url, 'POST', '/v1/merchants', { body, key: body.nif }).catch(() => lost.push(body.nif)),
        ),
      );
      return lost.toSorted();
    }

    const first = await lostWith(7);

    expect(first.length).toBeGreaterThan(0);
    expect(await lostWith(7)).toEqual(first);
    expect(await lostWith(8)).not.toEqual(first);
  });
});

describe('other answers', () => {
  it('a stored 500 stays under its key, over a restart too, and creates nothing', async () => {
    const store = memoryStore();
    const calm = await sandbox({ store });
    const merchantId = await merchantIn(calm.url);
    await calm.close();
    const first = await sandbox({ store, faults: { stored500: 1 } });
    const before = await post({ url: first.url, merchantId }, 'a');
    await first.close();
    const second = await sandbox({ store });

    const after = await post({ url: second.url, merchantId }, 'a');
    const other = await post({ url: second.url, merchantId }, 'b');

    expect([before.status, after.status, other.status]).toEqual([500, 500, 201]);
    expect(after.text).toBe(before.text);
    expect(second.books().totals.invoices).toBe(1);
  });

  it('429 comes with Retry-After and does nothing', async () => {
    const box = await faulty({ status429: 1, retryAfterSeconds: 7 });

    const reply = await post(box, 'a');

    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe('7');
    expect(errorOf(reply)['code']).toBe('rate_limited');
    expect(box.books().totals.invoices).toBe(0);
  });

  it('429 lets a repeated request through in the end', async () => {
    const box = await faulty({ status429: 0.5 });

    await expect.poll(async () => (await post(box, 'a')).status).toBe(201);
  });

  it('an outage begins at its request, answers HTML to everything, and ends by the clock', async () => {
    let now = 0;
    const box = await sandbox({ clock: () => now, faults: { outage: { afterRequests: 2, lastsMs: 1000 } } });
    const list = (): Promise<Reply> => call(box.url, 'GET', '/v1/merchants');
    const before = [await list(), await list()];

    const during = [await list(), await call(box.url, 'GET', '/', { apiKey: 'sk_test_none' })];
    now += 1000;
    const after = await list();

    expect([...before, after].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(during.map(({ status }) => status)).toEqual([503, 503]);
    expect(during[0]?.headers.get('content-type')).toContain('text/html');
    expect(during[0]?.headers.get('retry-after')).toBe('1');
  });

  it('a slow drip sends the whole answer in pieces', async () => {
    const box = await faulty({ slowDrip: 1, slowDripMs: 40 });
    const response = await fetch(`${box.url}/v1/merchants`, { headers: { Authorization: 'Bearer sk_test_sandbox' } });
    let pieces = 0;
    let text = '';
    for await (const piece of response.body ?? []) {
      pieces += 1;
      text += Buffer.from(piece as Uint8Array).toString();
    }

    expect(pieces).toBeGreaterThan(3);
    expect(JSON.parse(text)).toMatchObject({ data: [{ id: box.merchantId }] });
  });

  it('the list fails, and nothing else', async () => {
    const box = await faulty({ listFailure: 1 });

    expect((await call(box.url, 'GET', '/v1/merchants')).status).toBe(500);
    expect((await post(box, 'a')).status).toBe(201);
  });

  it('a refused merchant stays refused, whatever the key', async () => {
    const box = await sandbox({ faults: { merchantRefusal: 0.5 } });
    async function statusOf(nif: number, key: string): Promise<number> {
      const body = { legal_name: 'M', nif: String(nif), email: 'a@b.test' };
      const reply = await call(box.url, 'POST', '/v1/merchants', { body, key });
      if (reply.status === 422) expect(errorOf(reply)).toMatchObject({ code: 'merchant_refused', field: 'nif' });
      return reply.status;
    }
    const nifs = Array.from({ length: 20 }, (_, index) => index);

    const first = await Promise.all(nifs.map((nif) => statusOf(nif, `a${nif}`)));
    const second = await Promise.all(nifs.map((nif) => statusOf(nif, `b${nif}`)));

    expect(new Set(first)).toEqual(new Set([201, 422]));
    expect(second.map((status) => status === 422)).toEqual(first.map((status) => status === 422));
  });

  it('an invoice that never settles stays processing, over a restart too, and the others do not', async () => {
    const store = memoryStore();
    const faults = { neverSettle: 0.5 };
    const first = await sandbox({ store, faults, seed: 3 });
    const merchantId = await merchantIn(first.url);
    await Promise.all(Array.from({ length: 20 }, (_, index) => post({ url: first.url, merchantId }, `k${index}`)));
    const chance = createChance(checkedFaults(faults), '3');
    const stuck = first.books().invoices.filter(({ bodySha256 }) => chance.decide('neverSettle', bodySha256)).length;
    expect(stuck).toBeGreaterThan(0);
    expect(stuck).toBeLessThan(20);
    await expect.poll(() => first.books().totals.issued).toBe(20 - stuck);
    await first.close();

    const second = await sandbox({ store, faults, seed: 3, clock: () => Date.now() + 3_600_000 });

    // One that settles, asked after, shows that the others had their chance.
    const last = await post({ url: second.url, merchantId }, 'last');
    expect(last.status).toBe(201);
    const expected = 20 - stuck + second.books().invoices.filter(isLastOne).length;
    await expect.poll(() => second.books().totals.issued).toBe(expected);
    expect(second.books().totals.processing).toBe(21 - expected);

    function isLastOne({ id, bodySha256 }: { readonly id: string; readonly bodySha256: string }): boolean {
      return id === last.json['id'] && !chance.decide('neverSettle', bodySha256);
    }
  });
});

describe('webhook faults', () => {
  async function withReceiver(faults: Partial<Faults>): Promise<{
    readonly box: Sandbox & { readonly merchantId: string };
    readonly hooks: Receiver;
    readonly secret: string;
  }> {
    const box = await faulty(faults);
    const hooks = await receiver();
    return { box, hooks, secret: await register(box.url, hooks.url) };
  }

  async function settled(box: Sandbox): Promise<void> {
    await expect.poll(() => box.books().totals.issued).toBe(1);
    await expect.poll(() => box.books().totals.deliveriesPending).toBe(0);
  }

  it('dropped: nothing is sent', async () => {
    const { box, hooks } = await withReceiver({ webhookDropped: 1 });

    await post(box, 'a');

    await settled(box);
    expect(hooks.received).toEqual([]);
  });

  it('duplicated: the same bytes twice', async () => {
    const { box, hooks } = await withReceiver({ webhookDuplicated: 1 });

    await post(box, 'a');

    await settled(box);
    expect(hooks.received).toHaveLength(2);
    expect(hooks.received[0]?.body).toBe(hooks.received[1]?.body);
  });

  it('early: the event is there, and GET says so, before the POST is answered', async () => {
    const { box, hooks } = await withReceiver({ webhookEarly: 1 });

    const reply = await post(box, 'a');

    expect(hooks.received).toHaveLength(1);
    expect(reply.json['status']).toBe('processing');
    expect((await call(box.url, 'GET', `/v1/invoices/${String(reply.json['id'])}`)).json['status']).toBe('issued');
  });

  it('early: an answer does not wait for a receiver that hangs', async () => {
    const box = await faulty({ webhookEarly: 1 });
    const hanging = await receiver(() => new Promise(() => {}));
    await register(box.url, hanging.url);

    expect((await post(box, 'a')).status).toBe(201);
    expect(hanging.received).toHaveLength(1);
  });

  it('late: the event waits, and GET knows already', async () => {
    const store = memoryStore();
    const box = await sandbox({ store, faults: { webhookLate: 1, lateMs: 60_000 }, clock: () => 5_000_000 });
    const hooks = await receiver();
    await register(box.url, hooks.url);
    const merchantId = await merchantIn(box.url);

    await post({ url: box.url, merchantId }, 'a');

    // The clock stands still, so the engine's delay is what setTimeout makes of it.
    await expect.poll(() => box.books().totals.issued).toBe(1);
    expect((await store.open()).deliveries.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([5_060_000]);
    expect(hooks.received).toEqual([]);
  });

  it('reordered: events are held back by different times', async () => {
    const store = memoryStore();
    const faults = { webhookReordered: 1, reorderMs: 3_600_000 };
    const box = await sandbox({ store, faults, clock: () => 0 });
    await register(box.url, (await receiver()).url);
    const merchantId = await merchantIn(box.url);

    await Promise.all(['a', 'b', 'c', 'd'].map((key) => post({ url: box.url, merchantId }, key)));

    await expect.poll(() => box.books().totals.issued).toBe(4);
    const delays = (await store.open()).deliveries.map(({ nextAttemptAt }) => nextAttemptAt);
    expect(new Set(delays).size).toBe(4);
    expect(Math.max(...delays)).toBeLessThan(3_600_000);
  });

  it("forged: says the opposite, once, with a signature that is not the secret's", async () => {
    const { box, hooks, secret } = await withReceiver({ webhookForged: 1 });

    await post(box, 'a');

    await settled(box);
    const forged = hooks.received.filter((delivery) => !isSigned(delivery, secret));
    const honest = hooks.received.filter((delivery) => isSigned(delivery, secret));
    expect(forged.map(({ body }) => (JSON.parse(body) as Json)['type'])).toEqual(['invoice.failed']);
    expect(honest.map(({ body }) => (JSON.parse(body) as Json)['type'])).toEqual(['invoice.issued']);
    expect(forged[0]?.headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('forged: is not tried again when it is refused', async () => {
    const box = await faulty({ webhookForged: 1, webhookDropped: 1 });
    const hooks = await receiver(() => ({ status: 401 }));
    await register(box.url, hooks.url);

    await post(box, 'a');

    await settled(box);
    expect(hooks.received).toHaveLength(1);
  });

  it('stray: a good signature about an invoice that does not exist', async () => {
    const { box, hooks, secret } = await withReceiver({ webhookStray: 1, webhookDropped: 1 });

    const reply = await post(box, 'a');

    await settled(box);
    const [stray] = hooks.received;
    if (stray === undefined) throw new Error('one delivery was expected');
    const { id } = (JSON.parse(stray.body) as Json)['data'] as Json;
    expect(isSigned(stray, secret)).toBe(true);
    expect(id).not.toBe(reply.json['id']);
    expect((await call(box.url, 'GET', `/v1/invoices/${String(id)}`)).status).toBe(404);
  });

  it('contradictory: both events, well signed, and GET tells the truth', async () => {
    const { box, hooks, secret } = await withReceiver({ contradictoryEvents: 1 });

    const reply = await post(box, 'a');

    await settled(box);
    expect(typesOf(hooks).toSorted()).toEqual(['invoice.failed', 'invoice.issued']);
    expect(hooks.received.every((delivery) => isSigned(delivery, secret))).toBe(true);
    expect((await call(box.url, 'GET', `/v1/invoices/${String(reply.json['id'])}`)).json['status']).toBe('issued');
  });
});

describe('heavy faults', () => {
  it('never make two invoices of one key, and every invoice can be settled by asking', async () => {
    const box = await faulty({
      ...HEAVY_FAULTS,
      slowDripMs: 20,
      lateMs: 20,
      reorderMs: 20,
      stored500: 0,
      neverSettle: 0,
    });
    const hooks = await receiver();
    await register(box.url, hooks.url).catch(() => '');
    async function until201(key: string): Promise<void> {
      for (let tries = 0; tries < 50; tries += 1) {
        const reply = await post(box, key).catch(() => null);
        if (reply?.status === 201) return;
      }
      throw new Error(`${key} was never answered`);
    }

    await Promise.all(Array.from({ length: 200 }, (_, index) => until201(`k${index}`)));

    await expect.poll(() => box.books().totals.issued).toBe(200);
    expect(box.books().duplicates).toEqual([]);
  });
});
