import { z } from 'zod';
import type { Call } from './context.ts';
import type { Services } from './settlement.ts';
import { InvoiceBody } from './engine.ts';
import { list, matching, object, readAs, text } from './field.ts';
import { EVENT_TYPES, type InvoiceRecord, type MerchantRecord, type WebhookRecord } from './store.ts';
import {
  createdInvoiceAnswer,
  invoiceAnswer,
  isoTime,
  jsonAnswer,
  merchantAnswer,
  merchantJson,
  Refusal,
  storedErrorAnswer,
  type Answer,
} from './http/answer.ts';

/** The retention window of keys; after it, the same key creates again. */
const KEY_RETENTION_MS = 24 * 60 * 60 * 1000;

/**
 * Creates at most once for an Idempotency-Key. Keeps only answers that created something (and the error of the fault
 * `stored500`): a client may correct a refused request and send it again with the same key.
 */
async function onceByKey({ context }: Services, call: Call, create: () => Promise<Answer>): Promise<Answer> {
  const { application, idempotencyKey: key, path, body } = call;
  const kept = key === null ? undefined : application.keptAnswers.get(key);
  if (kept !== undefined && context.clock() - kept.createdAt <= KEY_RETENTION_MS) {
    await context.latency();
    if (kept.path === path && kept.bodySha256 === body.sha256) return kept.answer();
    throw new Refusal(422, 'idempotency_mismatch', 'Idempotency-Key: this key was used with another request.');
  }
  if (key === null) {
    await context.latency();
    return create();
  }
  if (application.keysInFlight.has(key)) {
    const message = 'Idempotency-Key: a request with this key is being answered. Ask again.';
    throw new Refusal(409, 'idempotency_in_progress', message, { headers: { 'Retry-After': '1' } });
  }
  application.keysInFlight.add(key);
  try {
    await context.latency();
    if (!context.chance.decide('stored500', `${application.id} ${key}`)) return await create();
    const owner = { applicationId: application.id, idempotencyKey: key, path };
    const record = { ...owner, bodySha256: body.sha256, createdAt: context.clock() };
    await context.commit([{ kind: 'stored-error', record }]);
    return storedErrorAnswer();
  } finally {
    application.keysInFlight.delete(key);
  }
}

/** POST /v1/invoices */
function createInvoice(services: Services, call: Call): Promise<Answer> {
  const { context, settlement } = services;
  const { application, idempotencyKey } = call;
  return onceByKey(services, call, async () => {
    const body = readAs(call.body.value, InvoiceBody);
    if (!application.merchants.has(body.merchant_id)) {
      const message = 'this application has no such merchant.';
      throw new Refusal(422, 'merchant_not_found', message, { field: 'merchant_id' });
    }
    const invoice: InvoiceRecord = {
      id: newIdFor(context, call),
      applicationId: application.id,
      merchantId: body.merchant_id,
      idempotencyKey,
      body: call.body.text,
      bodySha256: call.body.sha256,
      createdAt: context.clock(),
      status: 'processing',
      error: null,
      settledAt: null,
    };
    await context.commit([{ kind: 'invoice', record: invoice }]);
    if (context.chance.decide('webhookEarly', invoice.bodySha256)) await settlement.settleNow(invoice);
    else settlement.accept(invoice);
    return createdInvoiceAnswer(invoice);
  });
}

/** If ids follow from the seed, derives the id from the key; a forgotten key that creates again gets a random one. */
function newIdFor({ newId }: Services['context'], { application, idempotencyKey }: Call): string {
  const id = idempotencyKey === null ? newId('inv_') : newId('inv_', `${application.id} ${idempotencyKey}`);
  return application.invoices.has(id) ? newId('inv_') : id;
}

/** GET /v1/invoices/:id */
async function getInvoice({ context }: Services, { application, id }: Call): Promise<Answer> {
  await context.latency();
  const invoice = application.invoices.get(id);
  if (invoice === undefined) throw new Refusal(404, 'invoice_not_found', 'This application has no such invoice.');
  return invoiceAnswer(invoice);
}

/** The published fields of a merchant. */
export const MerchantBody = object({
  legal_name: text({ max: 500 }),
  nif: matching((nif) => /^[0-9]{1,20}$/.test(nif), '1 to 20 digits'),
  email: matching((email) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(email), 'an e-mail address'),
});

/** POST /v1/merchants */
function createMerchant(services: Services, call: Call): Promise<Answer> {
  const { context } = services;
  const { application, idempotencyKey, body } = call;
  return onceByKey(services, call, async () => {
    const { nif } = readAs(body.value, MerchantBody);
    if (context.chance.decide('merchantRefusal', `${application.id} ${nif}`))
      throw new Refusal(422, 'merchant_refused', 'the service does not accept this taxpayer.', { field: 'nif' });
    if (application.nifs.has(nif))
      throw new Refusal(409, 'merchant_exists', 'this application has a merchant with this number.', { field: 'nif' });
    // Reserves the NIF before the write, so that two concurrent requests cannot both pass the check above.
    application.nifs.add(nif);
    const merchant: MerchantRecord = {
      id: context.newId('mrc_', `${application.id} ${nif}`),
      applicationId: application.id,
      nif,
      idempotencyKey,
      body: body.text,
      bodySha256: body.sha256,
      createdAt: context.clock(),
    };
    try {
      await context.commit([{ kind: 'merchant', record: merchant }]);
    } catch (error) {
      application.nifs.delete(nif);
      throw error;
    }
    return merchantAnswer(merchant);
  });
}

/** The default and the most merchants in one answer. */
const PAGE_SIZE = 100;

/** GET /v1/merchants */
async function listMerchants({ context }: Services, { application, query }: Call): Promise<Answer> {
  await context.latency();
  if (context.chance.decideAgain('listFailure', application.id))
    throw new Refusal(500, 'internal_error', 'The list could not be read.');
  const limit = limitOf(query.get('limit'));
  if (limit === null) throw new Refusal(400, 'query_invalid', `expected 1 to ${PAGE_SIZE}.`, { field: 'limit' });
  const from = positionOf(query.get('cursor'));
  if (from === null)
    throw new Refusal(400, 'query_invalid', 'expected a next_cursor of this list.', { field: 'cursor' });
  const end = from + limit;
  const page = [...application.merchants.values()].slice(from, end);
  const cursor = end < application.merchants.size ? cursorOf(end) : null;
  return jsonAnswer(200, `{"data":[${page.map(merchantJson).join(',')}],"next_cursor":${JSON.stringify(cursor)}}`);
}

function limitOf(text: string | null): number | null {
  if (text === null) return PAGE_SIZE;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= PAGE_SIZE ? limit : null;
}

// The cursor is opaque to the client, so that its meaning can change later.
function cursorOf(position: number): string {
  return Buffer.from(`after ${position}`).toString('base64url');
}

function positionOf(cursor: string | null): number | null {
  if (cursor === null) return 0;
  const match = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  return match === null ? null : Number(match[1]);
}

/**
 * POST /v1/webhooks. The interface has no Idempotency-Key here, so the address is the key: registering it again returns
 * the same endpoint and secret, with the events of the last request. A client that lost the answer repeats the request.
 */
async function registerWebhook({ context }: Services, { application, body }: Call): Promise<Answer> {
  await context.latency();
  const wanted = readAs(body.value, WebhookBody);
  const { href } = new URL(wanted.url);
  const events = [...new Set(wanted.events)];
  const known = [...application.webhooks.values()].find(({ url }) => url === href);
  const { clock, newId } = context;
  const fresh = { id: newId('whk_'), applicationId: application.id, secret: newId('whsec_'), createdAt: clock() };
  const webhook: WebhookRecord = { ...(known ?? fresh), url: href, events };
  // Added before it is durable, so that two concurrent requests cannot create two endpoints for one address.
  if (known === undefined) application.webhooks.set(webhook.id, webhook);
  try {
    await context.commit([{ kind: 'webhook', record: webhook }]);
  } catch (error) {
    if (known === undefined) application.webhooks.delete(webhook.id);
    throw error;
  }
  const { id, url, secret, createdAt } = webhook;
  const text = JSON.stringify({ id, url, events, secret, created_at: isoTime(createdAt) });
  return jsonAnswer(known === undefined ? 201 : 200, text);
}

const LONGEST_URL = 2000;
// Plain http is only for receivers on the same machine, because no certificate exists for their address.
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** The published fields of a webhook endpoint. */
export const WebhookBody = object({
  url: matching(isAllowed, 'an https address (http on a loopback address only)'),
  events: list(z.enum(EVENT_TYPES, `one of ${EVENT_TYPES.join(', ')}`), { min: 1, max: EVENT_TYPES.length }),
});

function isAllowed(value: string): boolean {
  if (value.length > LONGEST_URL || !URL.canParse(value)) return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}

/** An operation of the published interface, with its method and path. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** A segment in braces is the path's parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly run: (services: Services, call: Call) => Promise<Answer>;
}

/** The five operations of the published interface. */
export const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/invoices', operationId: 'createInvoice', run: createInvoice },
  { method: 'GET', path: '/v1/invoices/{id}', operationId: 'getInvoice', run: getInvoice },
  { method: 'POST', path: '/v1/merchants', operationId: 'createMerchant', run: createMerchant },
  { method: 'GET', path: '/v1/merchants', operationId: 'listMerchants', run: listMerchants },
  { method: 'POST', path: '/v1/webhooks', operationId: 'registerWebhook', run: registerWebhook },
];
