import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkedFaults } from '../../../src/sandbox/faults.ts';
import type { FaultName, Faults } from '../../../src/sandbox/faults.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store.ts';
import { call, invoiceFor, merchantIn, postInvoice, type Json } from './support/client.ts';
import { receiver, register, sandbox, type Receiver, withMerchant } from './support/fixtures.ts';

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
  ['slowDrip', {}],
  ['listFailure', { list: 500 }],
  ['merchantRefusal', { merchant: 422 }],
  ['neverSettle', { status: 'processing', webhooks: [] }],
  ['webhookDropped', { webhooks: [] }],
  ['webhookDuplicated', { webhooks: ['signed issued', 'signed issued'] }],
  ['webhookReordered', {}],
  ['webhookEarly', {}],
  ['webhookLate', {}],
  ['webhookForged', { webhooks: ['forged failed', 'signed issued'] }],
  ['webhookStray', { webhooks: ['signed issued', 'signed stray issued'] }],
  ['contradictoryEvents', { webhooks: ['signed failed', 'signed issued'] }],
];

/** Waits that a test can afford. */
const SHORT = { slowDripMs: 20, reorderMs: 20, lateMs: 20, retryAfterSeconds: 0 };

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
    const { retryAfterSeconds, slowDripMs, reorderMs, lateMs, outage, requestsPerSecond, ...chances } = checkedFaults();

    expect(Object.keys(chances).toSorted()).toEqual(FAULTS.map(([name]) => name).toSorted());
    expect([retryAfterSeconds, slowDripMs, reorderMs, lateMs]).toEqual([1, 2000, 1000, 5000]);
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

it('many requests with one key and other bytes each make one invoice, of the first request, and refuse the others', async () => {
  const { merchantId, ...box } = await withMerchant({ latencyMs: 5 });
  const bodies = ['A', 'B', 'C', 'D', 'E'].map((customer) => invoiceFor(merchantId, { customer }));

  const statuses = await Promise.all(bodies.map((body) => statusOf(postInvoice(box.url, body, 'one'))));
  const after = await Promise.all(bodies.map((body) => statusOf(postInvoice(box.url, body, 'one'))));

  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(after.filter((status) => status === 422)).toHaveLength(4);
  expect(after.indexOf(201)).toBe(statuses.indexOf(201));
  expect(box.books().totals.invoices).toBe(1);
});

describe('a restart', () => {
  it('goes on where the list of merchants was', async () => {
    const store = memoryStore();
    const first = await sandbox({ store });
    for (const nif of ['1', '2', '3']) await merchantIn(first.url, nif);
    const page = await call(first.url, 'GET', '/v1/merchants?limit=2');
    await first.close();
    const second = await sandbox({ store });
    await merchantIn(second.url, '4');

    const rest = await call(second.url, 'GET', `/v1/merchants?limit=2&cursor=${String(page.json['next_cursor'])}`);

    const nifs = [page, rest].flatMap(({ json }) => (json['data'] as Json[]).map(({ nif }) => nif));
    expect(nifs).toEqual(['1', '2', '3', '4']);
    expect(rest.json['next_cursor']).toBeNull();
  });

  it('keeps a merchant refused twice, a webhook registered once, and a settled invoice settled', async () => {
    const store = memoryStore();
    const first = await sandbox({ store });
    const merchantId = await merchantIn(first.url, '7');
    const hooks = await receiver();
    const secret = await register(first.url, hooks.url);
    const created = await postInvoice(first.url, invoiceFor(merchantId), 'k');
    await expect.poll(() => first.books().totals.deliveriesPending + first.books().totals.processing).toBe(0);
    await first.close();
    const second = await sandbox({ store });

    const body = { legal_name: 'M', nif: '7', email: 'a@b.test' };
    const twice = await call(second.url, 'POST', '/v1/merchants', { body, key: 'other' });
    const again = await postInvoice(second.url, invoiceFor(merchantId), 'k');
    const read = await call(second.url, 'GET', `/v1/invoices/${String(created.json['id'])}`);

    expect(twice.status).toBe(409);
    expect(again.text).toBe(created.text);
    expect(read.json).toMatchObject({ id: created.json['id'], status: 'issued' });
    expect(await register(second.url, hooks.url)).toBe(secret);
    expect(second.books().totals).toMatchObject({ invoices: 1, webhooks: 1, issued: 1 });
    expect(hooks.received, 'what arrived is not sent again').toHaveLength(1);
  });
});
