import { describe, expect, it } from 'vitest';
import type { ZodType } from 'zod';
import { ERROR_CODES } from '../../../src/sandbox/http/answer.ts';
import { EVENT_TYPES, memoryStore } from '../../../src/sandbox/store.ts';
import { InvoiceBody } from '../../../src/sandbox/engine.ts';
import { MerchantBody, ROUTES, WebhookBody } from '../../../src/sandbox/operations.ts';
import { call, invoiceFor, type Json, type Reply, type Request, postInvoice } from './support/client.ts';
import { checkerOf, readDocument } from './support/document.ts';
import { receiver, register, sandbox } from './support/fixtures.ts';

const document = readDocument();

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

describe('the OpenAPI document', () => {
  it('has the operations of the sandbox, and no others', () => {
    const documented = OPERATIONS.map(({ method, path, operation }) => `${method} ${path} ${operation.operationId}`);
    const served = ROUTES.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`);

    expect(documented.toSorted()).toEqual(served.toSorted());
  });

  it('lists the error codes and the events of the sandbox', () => {
    const { Error: error, EventName } = document.components.schemas;

    expect(error).toMatchObject({ properties: { error: { properties: { code: { enum: [...ERROR_CODES] } } } } });
    expect(EventName).toEqual({ enum: [...EVENT_TYPES] });
  });

  it('names every component that it refers to', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');

    expect([...new Set(names)].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
  });
});

/** Stand-ins for any value: of every kind, and just beyond each limit. */
const MUTANTS: readonly unknown[] = [
  ...[null, true, 0, -1.5, '', '   ', [], {}, 'mrc_a b', 'a b@c.test', 'a\u0007b', 'a\tb'],
  ...'x EUR eur EURO 12.5 5417000001 123456789012345678901 mrc_1 mrc_ a@b.test'.split(' '),
  ...'https://example.test/a http://example.test/a http://127.0.0.1:80/a http://127.0.0.1.example.test/a'.split(' '),
  ...[64, 65, 500, 501, 2000, 2001].map((length) => 'x'.repeat(length)),
  ...['invoice.issued', 'invoice.paid', ['invoice.issued']],
  ['invoice.issued', 'invoice.failed', 'invoice.issued'],
];

/** Every body that differs from a good one at one place. */
function* variantsOf(value: unknown): Generator<unknown> {
  yield* MUTANTS;
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) {
      yield value.toSpliced(index, 1);
      for (const variant of variantsOf(entry)) yield value.with(index, variant);
    }
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, extra: 1 };
    for (const [name, entry] of Object.entries(value)) {
      yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
      for (const variant of variantsOf(entry)) yield { ...value, [name]: variant };
    }
  }
}

describe('the documented request schemas', () => {
  const bodies: readonly [string, Json, ZodType][] = [
    ['InvoiceRequest', invoiceFor('mrc_1'), InvoiceBody],
    ['MerchantRequest', { legal_name: 'Sol', nif: '5417000001', email: 'a@b.test' }, MerchantBody],
    ['WebhookRequest', { url: 'https://example.test/', events: ['invoice.issued'] }, WebhookBody],
  ];

  it.each(bodies)('%s takes and refuses what the sandbox does', (name, good, own) => {
    const isTaken = (value: unknown): boolean => own.safeParse(value).success;
    const schema = checkerOf(document, { $ref: `#/components/schemas/${name}` });
    const variants = [good, ...variantsOf(good)];

    const differing = variants.filter((variant) => schema.safeParse(variant).success !== isTaken(variant));

    expect(differing).toEqual([]);
    expect(variants.filter(isTaken).length).toBeGreaterThan(4);
    expect(variants.filter((variant) => !isTaken(variant)).length).toBeGreaterThan(50);
  });
});

describe('the documented answers', () => {
  it('are what the sandbox answers, each of them', async () => {
    const exchanges = await everyExchange();

    const wrong = exchanges.filter(({ operationId, reply }) => !isDocumented(operationId, reply));
    expect(wrong.map(({ operationId, reply }) => `${operationId} ${reply.status} ${reply.text}`)).toEqual([]);
    const seen = new Set(exchanges.map(({ operationId, reply }) => `${operationId} ${reply.status}`));
    const documented = OPERATIONS.flatMap(({ operation }) =>
      Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
    );
    expect(documented.filter((pair) => !seen.has(pair))).toEqual([]);
  });

  it('notices an answer that is not documented', () => {
    const headers = new Headers({ 'content-type': 'application/json' });

    for (const status of [200, 418])
      expect(isDocumented('getInvoice', { status, headers, text: '', json: {} })).toBe(false);
  });

  it('hold for the events too', async () => {
    const schema = checkerOf(document, { $ref: '#/components/schemas/Event' });
    const box = await sandbox();
    const hooks = await receiver();
    await register(box.url, hooks.url);
    const { json } = await call(box.url, 'POST', '/v1/merchants', {
      body: { legal_name: 'M', nif: '1', email: 'a@b.test' },
    });

    for (const taxCode of ['IVA_14', 'IVA_99']) {
      await postInvoice(box.url, invoiceFor(String(json['id']), { taxCode }));
    }

    await expect.poll(() => hooks.received.length).toBe(2);
    for (const { body } of hooks.received) expect(schema.safeParse(JSON.parse(body)).error).toBeUndefined();
    expect(schema.safeParse({ id: 'evt_1', type: 'invoice.paid', data: {} }).success).toBe(false);
  });

  function isDocumented(operationId: string, reply: Reply): boolean {
    const documented = OPERATIONS.find(({ operation }) => operation.operationId === operationId)?.operation;
    const content = documented?.responses[String(reply.status)]?.content;
    const type = reply.headers.get('content-type')?.split(';')[0] ?? '';
    const schema = content?.[type]?.schema;
    if (schema === undefined) return false;
    const value: unknown = type === 'text/html' ? reply.text : reply.json;
    return checkerOf(document, schema).safeParse(value).success;
  }
});

/** Brings the sandbox to every answer that it can give. */
async function everyExchange() {
  const exchanges: { readonly operationId: string; readonly reply: Reply }[] = [];
  async function make(
    url: string,
    operationId: string,
    request: Request & { readonly path?: string } = {},
  ): Promise<Reply> {
    const route = ROUTES.find((candidate) => candidate.operationId === operationId);
    if (route === undefined) throw new Error(`${operationId} is no operation`);
    const reply = await call(url, route.method, request.path ?? route.path, request);
    exchanges.push({ operationId, reply });
    return reply;
  }

  const { url, books } = await sandbox({ latencyMs: 20 });
  const merchant = { legal_name: 'M', nif: '1', email: 'a@b.test' };
  const webhook = { url: 'https://example.invalid/', events: ['invoice.issued'] };
  const created = await make(url, 'createMerchant', { body: merchant, key: 'm' });
  const good = invoiceFor(String(created.json['id']));
  const failing = invoiceFor(String(created.json['id']), { taxCode: 'IVA_99' });

  await make(url, 'createMerchant', { body: merchant, key: 'm' });
  await make(url, 'createMerchant', { body: merchant, key: 'other' });
  await make(url, 'createMerchant', { body: { ...merchant, nif: '2' }, key: 'm' });
  await Promise.all([1, 2].map(() => make(url, 'createMerchant', { body: { ...merchant, nif: '3' }, key: 'm3' })));
  const processing = await make(url, 'createInvoice', { body: good, key: 'i' });
  const failed = await make(url, 'createInvoice', { body: failing });
  await make(url, 'getInvoice', { path: `/v1/invoices/${String(processing.json['id'])}` });
  await expect.poll(() => books().totals.processing).toBe(0);
  await make(url, 'getInvoice', { path: `/v1/invoices/${String(processing.json['id'])}` });
  await make(url, 'getInvoice', { path: `/v1/invoices/${String(failed.json['id'])}` });
  await make(url, 'getInvoice', { path: '/v1/invoices/inv_none' });
  await make(url, 'createInvoice', { body: failing, key: 'i' });
  await make(url, 'createInvoice', { body: invoiceFor('mrc_none') });
  await Promise.all([1, 2].map(() => make(url, 'createInvoice', { body: good, key: 'i2' })));
  await make(url, 'listMerchants');
  await make(url, 'listMerchants', { path: '/v1/merchants?limit=1' });
  await make(url, 'listMerchants', { path: '/v1/merchants?limit=0' });
  await make(url, 'registerWebhook', { body: webhook });
  await make(url, 'registerWebhook', { body: webhook });

  for (const operationId of ['createInvoice', 'createMerchant', 'registerWebhook']) {
    const bodies = [{}, { extra: 1, ...good, ...merchant, ...webhook }, '{', JSON.stringify('x'.repeat(300_000))];
    for (const body of bodies) await make(url, operationId, { body });
    await make(url, operationId, { body: {}, headers: { 'Content-Type': 'text/plain' } });
    if (operationId !== 'registerWebhook')
      await make(url, operationId, { body: {}, headers: { 'Idempotency-Key': 'a b' } });
  }

  const limited = await sandbox({ faults: { status429: 1 } });
  const down = await sandbox({ faults: { outage: { afterRequests: 0, lastsMs: 60_000 } } });
  const broken = await sandbox({ faults: { stored500: 1, listFailure: 1, merchantRefusal: 1 } });
  for (const { operationId, method } of ROUTES) {
    const request = method === 'POST' ? { body: {}, key: 'k' } : {};
    await make(url, operationId, { ...request, apiKey: 'sk_test_none' });
    await make(limited.url, operationId, request);
    await make(down.url, operationId, request);
    await make(broken.url, operationId, request);
  }
  await make(broken.url, 'createMerchant', { body: merchant });
  await make(broken.url, 'createMerchant', { body: merchant, key: 'k2' });
  const storeless = await urlWithoutStore();
  await make(storeless, 'registerWebhook', { body: webhook });
  return exchanges;
}

/** A sandbox whose store has failed since it was opened. */
async function urlWithoutStore(): Promise<string> {
  const store = { ...memoryStore(), write: () => Promise.reject(new Error('disk full')) };
  return (await sandbox({ store })).url;
}
