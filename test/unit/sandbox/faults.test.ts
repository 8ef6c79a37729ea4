import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  checkedFaults,
  createChance,
  HEAVY_FAULTS,
  parseFaults,
  type FaultName,
  type Faults,
} from '../../../src/sandbox/faults.ts';
import { createRateLimit } from '../../../src/sandbox/http/handle-request.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store.ts';
import { call, invoiceFor, merchantIn, postInvoice, type Json, type Reply } from './support/client.ts';
import { owedIn, receiver, register, sandbox, type Receiver } from './support/fixtures.ts';

/** What a client sees of one round of every operation. */
interface Round {
  readonly list: number | 'lost';
  readonly merchant: number | 'lost';
  readonly invoice: number | 'lost';
  /** Invoices in the books after the POST. */
  readonly created: number;
  readonly status: string;
  readonly webhooks: readonly string[];
}

const CALM: Round = {
  list: 200,
  merchant: 201,
  invoice: 201,
  created: 1,
  status: 'issued',
  webhooks: ['signed issued'],
};

const NOTHING: Partial<Round> = { created: 0, status: 'none', webhooks: [] };

/** What each fault changes when it always happens. */
const FAULTS: readonly (readonly [FaultName, Partial<Round>])[] = [
  ['lostBeforeCreate', { ...NOTHING, merchant: 'lost', invoice: 'lost' }],
  ['lostAfterCreate', { merchant: 'lost', invoice: 'lost' }],
  ['stored500', { ...NOTHING, merchant: 500, invoice: 500 }],
  ['status429', { ...NOTHING, list: 429, merchant: 429, invoice: 429 }],
  ['listFailure', { list: 500 }],
  ['merchantRefusal', { merchant: 422 }],
  ['neverSettle', { status: 'processing', webhooks: [] }],
  ['webhookDropped', { webhooks: [] }],
  ['webhookDuplicated', { webhooks: ['signed issued', 'signed issued'] }],
  ['webhookEarly', {}],
  ['webhookLate', {}],
  ['webhookForged', { webhooks: ['forged failed', 'signed issued'] }],
  ['webhookStray', { webhooks: ['signed issued', 'signed stray issued'] }],
  ['contradictoryEvents', { webhooks: ['signed failed', 'signed issued'] }],
];

/** Waits that a test can afford. */
const SHORT = { lateMs: 20, retryAfterSeconds: 0 };

async function statusOf(request: Promise<{ readonly status: number }>): Promise<number | 'lost'> {
  return request.then(
    ({ status }) => status,
    () => 'lost' as const,
  );
}

function described({ received }: Receiver, secret: string, invoiceId: string): readonly string[] {
  return received
    .map(({ body, headers }) => {
      const event = JSON.parse(body) as { type: string; data: { id: string } };
      const signed = headers['x-service-signature'] === createHmac('sha256', secret).update(body).digest('hex');
      const stray = event.data.id === invoiceId ? '' : 'stray ';
      return `${signed ? 'signed' : 'forged'} ${stray}${event.type.replace('invoice.', '')}`;
    })
    .toSorted();
}

/** A merchant and a webhook that were there before the fault began; then every operation once. */
async function roundWith(faults: Partial<Faults>): Promise<Round> {
  const store = memoryStore();
  const calm = await sandbox({ store });
  const merchantId = await merchantIn(calm.url);
  const hooks = await receiver();
  const secret = await register(calm.url, hooks.url);
  await calm.close();
  const box = await sandbox({ store, faults: { ...SHORT, ...faults } });
  const body = { legal_name: 'Other', nif: '5000000002', email: 'b@example.test' };
  const list = await statusOf(call(box.url, 'GET', '/v1/merchants'));
  const merchant = await statusOf(call(box.url, 'POST', '/v1/merchants', { body, key: 'm' }));
  const invoice = await statusOf(postInvoice(box.url, invoiceFor(merchantId), 'i'));
  await quiet(box, faults);
  const [booked] = box.books().invoices;
  return {
    list,
    merchant,
    invoice,
    created: box.books().totals.invoices,
    status: booked?.status ?? 'none',
    webhooks: described(hooks, secret, booked?.id ?? ''),
  };
}

/** Nothing is processing and nothing is owed any more. */
async function quiet(box: Sandbox, faults: Partial<Faults>): Promise<void> {
  if (faults.neverSettle === 1) return;
  await expect.poll(() => box.books().totals.processing).toBe(0);
  await expect.poll(() => box.books().totals.deliveriesPending).toBe(0);
}

describe('each fault, when it always happens, changes what the documentation says and nothing else', () => {
  it.each(FAULTS)('%s', async (fault, change) => {
    expect(await roundWith({ [fault]: 1 })).toEqual({ ...CALM, ...change });
  });

  it('and without any of them nothing is odd', async () => {
    expect(await roundWith({})).toEqual(CALM);
  });

  it('are all in this table', () => {
    const { retryAfterSeconds, lateMs, outage, requestsPerSecond, ...chances } = checkedFaults();

    expect(Object.keys(chances).toSorted()).toEqual(FAULTS.map(([name]) => name).toSorted());
    expect([retryAfterSeconds, lateMs]).toEqual([1, 5000]);
    expect([outage, requestsPerSecond]).toEqual([null, null]);
  });
});

it('a limit of requests a second refuses what comes faster, with the time to wait, and leaves health and books alone', async () => {
  const box = await sandbox({ faults: { requestsPerSecond: 0.001, retryAfterSeconds: 9 } });

  const first = await call(box.url, 'GET', '/v1/merchants');
  const second = await call(box.url, 'GET', '/v1/merchants');

  expect([first.status, second.status]).toEqual([200, 429]);
  expect(second.headers.get('retry-after')).toBe('9');
  expect((await call(box.url, 'GET', '/_sandbox/health')).status).toBe(200);
  expect((await call(box.url, 'GET', '/_sandbox/books')).status).toBe(200);
});

describe('the seed', () => {
  const nifs = Array.from({ length: 24 }, (_, index) => String(5_000_000_100 + index));

  /** What became of each merchant's creation, in whatever order they were asked for. */
  async function fates(seed: string, order: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const faults = {
      lostBeforeCreate: 0.2,
      lostAfterCreate: 0.2,
      status429: 0.2,
      stored500: 0.2,
      merchantRefusal: 0.2,
    };
    const box = await sandbox({ seed, faults: { ...SHORT, ...faults } });
    const fate = new Map<string, string>();
    for (const nif of order) {
      const body: Json = { legal_name: 'M', nif, email: 'a@b.test' };
      fate.set(nif, String(await statusOf(call(box.url, 'POST', '/v1/merchants', { body, key: nif }))));
    }
    return fate;
  }

  it('gives each request its fate, whatever comes before it', async () => {
    const forth = await fates('night', nifs);
    const back = await fates('night', nifs.toReversed());

    expect(Object.fromEntries(back)).toEqual(Object.fromEntries(forth));
    expect(new Set(forth.values()).size).toBeGreaterThan(3);
    expect(Object.fromEntries(await fates('other night', nifs))).not.toEqual(Object.fromEntries(forth));
  });
});

/** A sandbox with one merchant that was made before the faults began. */
async function faulty(faults: Partial<Faults>, store = memoryStore()) {
  const calm = await sandbox({ store });
  const merchantId = await merchantIn(calm.url);
  await calm.close();
  return { ...(await sandbox({ store, faults })), merchantId };
}

function post(box: { readonly url: string; readonly merchantId: string }, key: string): Promise<Reply> {
  return postInvoice(box.url, invoiceFor(box.merchantId, { customer: key }), key);
}

describe('other answers', () => {
  it('a stored 500 stays under its key, over a restart too, and creates nothing', async () => {
    const store = memoryStore();
    const first = await faulty({ stored500: 1 }, store);
    const before = await post(first, 'a');
    await first.close();
    const second = { ...(await sandbox({ store })), merchantId: first.merchantId };

    const after = await post(second, 'a');
    const other = await post(second, 'b');

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

  it('late: events are held back by different times', async () => {
    const store = memoryStore();
    const faults = { webhookLate: 1, lateMs: 3_600_000 };
    const box = await sandbox({ store, faults, clock: () => 0 });
    await register(box.url, (await receiver()).url);
    const merchantId = await merchantIn(box.url);

    await Promise.all(['a', 'b', 'c', 'd'].map((key) => post({ ...box, merchantId }, key)));

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
    lateMs: 20,
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
});

describe('the rate limit of the sandbox', () => {
  it('refuses nothing without a limit', () => {
    const isOver = createRateLimit(null, () => 0);

    expect(Array.from({ length: 1_000 }, () => isOver())).not.toContain(true);
  });

  it('takes a second at once, and then each in its time', () => {
    let now = 50_000;
    const isOver = createRateLimit(10, () => now);
    const taken = (): number => Array.from({ length: 100 }, () => isOver()).filter((over) => !over).length;

    const first = taken();
    now += 100;
    const next = taken();
    now += 5_000;

    expect([first, next, taken()]).toEqual([10, 1, 10]);
  });

  it('takes one of a limit below one a second', () => {
    let now = 0;
    const isOver = createRateLimit(0.5, () => now);

    expect([isOver(), isOver()]).toEqual([false, true]);
    now = 1_999;
    expect(isOver(), 'in the last moment of the wait').toBe(true);
    now = 2_000;
    expect([isOver(), isOver()]).toEqual([false, true]);
  });
});
