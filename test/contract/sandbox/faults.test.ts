import { describe, expect, it } from 'vitest';
import { createChance, HEAVY_FAULTS, checkedFaults, parseFaults, type Faults } from '../../../src/sandbox/faults.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store.ts';
import { call, invoiceFor, merchantIn, type Reply } from '../../unit/sandbox/support/client.ts';
import { owedIn, receiver, register, sandbox } from '../../unit/sandbox/support/fixtures.ts';

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

  it('an outage begins at its request, answers HTML to everything, and ends by the clock', async () => {
    let now = 0;
    const box = await sandbox({ clock: () => now, faults: { outage: { afterRequests: 2, lastsMs: 1000 } } });
    const list = (): Promise<Reply> => call(box.url, 'GET', '/v1/merchants');
    const before = [await list(), await list()];

    const during = [await list(), await call(box.url, 'GET', '/', { apiKey: 'sk_test_none' })];
    const own = [await call(box.url, 'GET', '/_sandbox/health'), await call(box.url, 'GET', '/_sandbox/books')];
    now += 1000;
    const after = await list();

    expect([...before, ...own, after].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
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
  it('early: the event is there, and GET says so, before the POST is answered', async () => {
    const box = await faulty({ webhookEarly: 1 });
    const hooks = await receiver();
    await register(box.url, hooks.url);

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
    expect((await owedIn(store)).map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([5_060_000]);
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
    const delays = (await owedIn(store)).map(({ nextAttemptAt }) => nextAttemptAt);
    expect(new Set(delays).size).toBe(4);
    expect(Math.max(...delays)).toBeLessThan(3_600_000);
  });

  it('forged: is not tried again when it is refused', async () => {
    const box = await faulty({ webhookForged: 1, webhookDropped: 1 });
    const hooks = await receiver(() => ({ status: 401 }));
    await register(box.url, hooks.url);

    await post(box, 'a');

    await expect.poll(() => box.books().totals.issued).toBe(1);
    await expect.poll(() => box.books().totals.deliveriesPending).toBe(0);
    expect(hooks.received).toHaveLength(1);
  });
});

it('heavy faults never make two invoices of one key, and every invoice can be settled by asking', async () => {
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
