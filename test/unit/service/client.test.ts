import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createInvoicingService, type InvoicingService } from '../../../src/service/client.ts';
import type { ConnectionOptions } from '../../../src/service/service-connection.ts';
import { DEFAULT_PROFILE } from '../../../src/service/profile/profile.ts';
import { loadProfile } from '../../../src/service/profile/check-profile.ts';
import { scriptedServer, sendJson } from './scripted-server.ts';

const KEY = 'sk_test_client-of-the-tests';

function clientOf(baseUrl: string, options: Partial<ConnectionOptions> = {}): InvoicingService {
  const service = createInvoicingService({
    baseUrl,
    apiKey: KEY,
    profile: DEFAULT_PROFILE,
    application: 'tests',
    ...options,
  });
  onTestFinished(async () => await service.close());
  return service;
}

/** A service by a profile that answers everything with the same. */
async function answering(status: number, value: unknown, profile: object = {}): Promise<InvoicingService> {
  const server = await scriptedServer((_request, response) => sendJson(response, status, value));
  return clientOf(server.baseUrl, { profile: loadProfile(JSON.stringify(profile)) });
}

describe('createInvoice', () => {
  it('sends the frozen bytes with the key and the token, and nothing else', async () => {
    const server = await scriptedServer((_request, response) => sendJson(response, 201, { id: 'inv_1' }));
    const body = '{"merchant_id":"mrc_1","unit_price":0.10000000000000000000001}';

    const answer = await clientOf(`${server.baseUrl}/tax/`).createInvoice(body, 'lote_abc');

    expect(answer).toEqual({ kind: 'created', serviceId: 'inv_1', word: null });
    const [request] = server.received;
    expect(request).toMatchObject({ method: 'POST', url: '/tax/v1/invoices', body });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'idempotency-key': 'lote_abc',
      ...{ accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'lote' },
      'content-length': String(body.length),
    });
  });

  it('sends the headers of the profile, also in place of its own Accept, but no other encoding', async () => {
    const server = await scriptedServer((_request, response) => sendJson(response, 201, { id: 'inv_1' }));
    const headers = { Accept: 'application/vnd.api+json', 'X-Api-Version': '2', 'Accept-Encoding': 'gzip' };
    const requests = { ...DEFAULT_PROFILE.requests, headers };

    await clientOf(server.baseUrl, { profile: { ...DEFAULT_PROFILE, requests } }).createInvoice('{}', 'lote_abc');

    expect(server.received[0]?.headers).toMatchObject({
      accept: 'application/vnd.api+json',
      'x-api-version': '2',
      'accept-encoding': 'identity',
    });
  });

  it('holds every kind of request after a Retry-After, without sleeping through it', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = await scriptedServer((_request, response, nth) =>
      sendJson(
        response,
        nth === 1 ? 429 : 200,
        nth === 1 ? {} : { id: 'inv_1', status: 'issued' },
        nth === 1 ? { 'retry-after': '60' } : {},
      ),
    );
    const service = clientOf(server.baseUrl);

    const first = await service.createInvoice('{}', 'lote_1');
    const held = await service.getInvoice('inv_1');
    vi.advanceTimersByTime(60_000);
    const later = await service.getInvoice('inv_1');

    expect(first).toMatchObject({ kind: 'not-now', retryAfterMs: 60_000 });
    expect(held).toMatchObject({ kind: 'not-now', reason: { code: 'retry-after-in-force' }, retryAfterMs: 60_000 });
    expect(later).toMatchObject({ kind: 'status', status: 'issued' });
    expect(server.received).toHaveLength(2);
  });
});

describe('getInvoice', () => {
  it('asks for the id in the path', async () => {
    const server = await scriptedServer((_request, response) =>
      sendJson(response, 200, { id: 'inv_1', status: 'issued' }),
    );

    await clientOf(server.baseUrl).getInvoice('inv_1');

    expect(server.received[0]).toMatchObject({ method: 'GET', url: '/v1/invoices/inv_1', body: '' });
    expect(server.received[0]?.headers).not.toHaveProperty('idempotency-key');
  });
});

describe('createMerchant', () => {
  const MERCHANT = { nif: '501964843', legalName: 'Loja, Lda', email: 'loja@example.org' };

  it('sends the published fields with its key', async () => {
    const server = await scriptedServer((_request, response) => sendJson(response, 201, { id: 'mrc_9' }));

    const answer = await clientOf(server.baseUrl).createMerchant(MERCHANT, 'lote_m');

    expect(answer).toEqual({ kind: 'created', merchantId: 'mrc_9' });
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      legal_name: 'Loja, Lda',
      nif: '501964843',
      email: 'loja@example.org',
    });
    expect(server.received[0]).toMatchObject({ url: '/v1/merchants', headers: { 'idempotency-key': 'lote_m' } });
  });

  it.each([
    [422, { error: { code: 'nif_invalid' } }, { kind: 'refused', reason: { code: 'nif-invalid' } }],
    [
      422,
      { error: { code: 'idempotency_mismatch' } },
      { kind: 'not-now', reason: { code: 'key-known-with-other-bytes' } },
    ],
    [422, { detail: 'no' }, { kind: 'not-now', reason: { code: 'http-422-unreadable' } }],
    [404, {}, { kind: 'not-now', reason: { code: 'http-404-unreadable' } }],
    [403, { id: 'mrc_9' }, { kind: 'not-now', reason: { code: 'answer-contradictory' } }],
    [303, {}, { kind: 'access-denied', reason: { code: 'redirect' } }],
    [201, { id: 'inv_9' }, { kind: 'not-now', reason: { code: 'answer-id-unusable' } }],
    [500, {}, { kind: 'not-now' }],
    [401, {}, { kind: 'access-denied', reason: { code: 'http-401' } }],
    [429, {}, { kind: 'not-now' }],
  ])('reads a %d with %j', async (status, value, expected) => {
    const service = await answering(status, value);

    expect(await service.createMerchant(MERCHANT, 'lote_m')).toMatchObject(expected);
  });
});

describe('listMerchants', () => {
  it('shows neither names nor tax numbers in a reason', async () => {
    const service = await answering(200, { data: [{ id: 'x', nif: '501964843', legal_name: 'Loja' }] });

    expect(JSON.stringify(await service.listMerchants())).not.toMatch(/501964843|Loja/);
  });
});

describe('registerWebhook', () => {
  it('subscribes to both events, without an Idempotency-Key, and keeps the secret', async () => {
    const server = await scriptedServer((_request, response) =>
      sendJson(response, 201, { id: 'whk_1', secret: 'whsec_1a' }),
    );

    const answer = await clientOf(server.baseUrl).registerWebhook('https://lote.example/webhooks');

    expect(answer).toEqual({ kind: 'registered', secret: 'whsec_1a' });
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      url: 'https://lote.example/webhooks',
      events: ['invoice.issued', 'invoice.failed'],
    });
    expect(server.received[0]).toMatchObject({ method: 'POST', url: '/v1/webhooks' });
    expect(server.received[0]?.headers).not.toHaveProperty('idempotency-key');
  });
});

describe('each request', () => {
  it('is measured by its kind', async () => {
    const measured: string[] = [];
    const server = await scriptedServer((_request, response) => sendJson(response, 404, {}));
    const service = clientOf(server.baseUrl, {
      measure: (operation) => {
        measured.push(operation);
        return () => undefined;
      },
    });

    await service.createInvoice('{}', 'lote_1');
    await service.getInvoice('inv_1');
    await service.listMerchants();
    await service.createMerchant({ nif: '1', legalName: 'L', email: 'l@example.org' }, 'lote_m');
    await service.registerWebhook('https://lote.example/webhooks');

    expect(measured).toEqual([
      ...['create-invoice', 'get-invoice', 'list-merchants', 'create-merchant', 'register-webhook'],
    ]);
  });

  it('that may not leave any more asks for nothing', async () => {
    const server = await scriptedServer((_request, response) => sendJson(response, 201, { id: 'mrc_1' }));
    const service = clientOf(server.baseUrl);
    const permit = { withdrawn: AbortSignal.abort(), isValid: () => false, confirm: async () => false };
    const merchant = { nif: '1', legalName: 'L', email: 'l@example.org' };

    expect(await service.createMerchant(merchant, 'lote_m', { permit })).toEqual({ kind: 'not-permitted' });
    expect(await service.createInvoice('{}', 'lote_1', { permit })).toEqual({ kind: 'not-permitted' });
    expect(server.received).toEqual([]);
  });
});

describe('an expression of the profile that exceeds its limits', () => {
  /** More items than an expression may make. */
  const EXCEEDS = 'jsonata:[1..20000][0]';
  const LIST = { data: [{ id: 'mrc_1', nif: '501964843' }], next_cursor: 'more' };
  const message = expect.stringContaining('exceeded its limit') as string;
  const unread = { kind: 'unreadable', reason: { code: 'service-list-unreadable', message } };
  const rules = [
    { status: [422], has: EXCEEDS, means: 'later' },
    { status: [422], means: 'refused' },
  ];

  const EXCEEDED: readonly [string, number, object, object, (service: InvoicingService) => Promise<unknown>, object][] =
    [
      [
        'ends no list: a merchant behind it would be created twice',
        200,
        LIST,
        { merchants: { nextCursor: EXCEEDS } },
        (service) => service.listMerchants(),
        unread,
      ],
      [
        'in an item makes the list unreadable',
        200,
        LIST,
        { merchants: { nif: EXCEEDS } },
        (one) => one.listMerchants(),
        unread,
      ],
      [
        'lets no later rule refuse an invoice',
        422,
        { error: { code: 'busy' } },
        { answers: { rules } },
        (service) => service.createInvoice('{}', 'lote_a'),
        { kind: 'lost', reason: { code: 'http-422-unreadable', message: 'HTTP 422: answer not-evaluated' } },
      ],
      [
        'leaves open whether a registration brought a secret',
        201,
        { secret: 'whsec_1a' },
        { webhook: { secret: EXCEEDS } },
        (service) => service.registerWebhook('https://lote.example/webhooks'),
        { kind: 'lost' },
      ],
    ];

  it.each(EXCEEDED)('%s', async (_, status, value, profile, ask, expected) => {
    expect(await ask(await answering(status, value, profile))).toMatchObject(expected);
  });
});

describe('one signal for many requests', () => {
  it('warns of no leak while it has a listener for each, and keeps none of them', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const server = await scriptedServer((_request, response) => {
      setTimeout(() => sendJson(response, 500, {}), 20);
    });
    const service = clientOf(server.baseUrl);
    const { signal } = new AbortController();

    await Promise.all(Array.from({ length: 100 }, () => service.createInvoice('{}', 'lote_abc', { signal })));

    await new Promise((resolve) => setImmediate(resolve));
    expect(server.received).toHaveLength(100);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
