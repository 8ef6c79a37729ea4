import { createHmac, randomBytes } from 'node:crypto';
import { constant, object, text } from './fake/body-shape.ts';
import type { BookedInvoice, BookedMerchant, Family, Reply } from './fake/family.ts';
import {
  eventNames,
  json,
  PUBLISHED,
  PUBLISHED_LINES,
  sliceAt,
  statusOf,
  waitOf,
  wholeNumber,
} from './fake/published.ts';

const MEDIA_TYPE = 'application/vnd.api+json';
const PAGE = 55;

const PROFILE: unknown = {
  requests: {
    contentType: MEDIA_TYPE,
    createInvoice: {
      body: {
        data: {
          type: 'invoices',
          attributes: {
            customer: { name: '{customer.name}', tax_id: '{customer.tax_id}' },
            currency: '{currency}',
            lines: [
              {
                $each: 'lines',
                description: '{description}',
                quantity: '{quantity}',
                unit_price: '{unit_price}',
                tax_code: '{tax_code}',
              },
            ],
          },
          relationships: { merchant: { data: { type: 'merchants', id: '{merchant_id}' } } },
        },
      },
    },
    createMerchant: {
      body: { data: { type: 'merchants', attributes: { legal_name: '{legal_name}', nif: '{nif}', email: '{email}' } } },
    },
    registerWebhook: { body: { data: { type: 'webhooks', attributes: { url: '{url}', events: '{events}' } } } },
  },
  answers: {
    rules: [
      { status: [409], code: ['idempotency_mismatch'], means: 'mismatch' },
      { status: [409], has: '/data/id', means: 'exists', id: '/data/id' },
    ],
  },
  error: { code: '/errors/0/code', message: '/errors/0/detail' },
  invoice: {
    id: '/data/id',
    idPrefix: 'inv_',
    status: '/data/attributes/status',
    reasonCode: '/data/attributes/failure/code',
    reasonMessage: '/data/attributes/failure/message',
  },
  merchants: {
    createdId: '/data/id',
    nif: '/attributes/nif',
    paging: 'link',
    nextLink: '/links/next',
    total: '/meta/total',
  },
  webhook: { secret: '/data/attributes/secret' },
  signature: {
    algorithm: 'sha512',
    prefix: 'sig=',
    separator: ';',
    timestamp: 'header:X-Service-Signed-At',
    signed: '{timestamp}\n{body}',
  },
  event: {
    type: '/data/attributes/name',
    invoiceId: '/data/relationships/invoice/data/id',
    eventId: '/data/id',
    reasonCode: '/data/attributes/failure/code',
    reasonMessage: '/data/attributes/failure/message',
  },
};

/** JSON:API documents; 409 with the existing one for a repeat under the same key; relative next links; parts with semicolons, SHA-512, an ISO time. */
export const jsonApiLike: Family = {
  name: 'json-api-like',
  profile: PROFILE,
  requests: {
    ...PUBLISHED,
    contentType: MEDIA_TYPE,
    createInvoice: {
      path: '/v1/invoices',
      shape: resource(
        'invoices',
        {
          customer: object({ name: text('customerName'), tax_id: text('customerTaxId') }, ['tax_id']),
          currency: text('currency'),
          lines: PUBLISHED_LINES,
        },
        {
          relationships: object({
            merchant: object({ data: object({ type: constant('merchants'), id: text('merchantId') }) }),
          }),
        },
      ),
    },
    createMerchant: {
      path: '/v1/merchants',
      shape: resource('merchants', { legal_name: text('legalName'), nif: text('nif'), email: text('email') }),
    },
    registerWebhook: { path: '/v1/webhooks', shape: resource('webhooks', { url: text('url'), events: eventNames }) },
  },
  answers: {
    invoiceId: (counted) => `inv_${counted}-${(counted * 7_919).toString(16)}`,
    merchantId: (counted) => `mrc_${counted}`,
    created: ({ id }) => document(201, { type: 'invoices', id, attributes: {} }),
    repeated: (invoice) => document(409, shown(invoice)),
    shown: (invoice) => document(200, shown(invoice)),
    merchantCreated: (merchant) => document(201, merchantOf(merchant)),
    merchantRepeated: (merchant) => document(409, merchantOf(merchant)),
    registered: ({ id, secret }) => document(201, { type: 'webhooks', id, attributes: { secret } }),
    problem(problem) {
      const error = {
        status: String(statusOf(problem)),
        code: problem.code,
        title: problem.kind,
        detail: problem.message,
      };
      return json(statusOf(problem), { errors: [error] }, { 'content-type': MEDIA_TYPE, ...waitOf(problem) });
    },
  },
  list(merchants, { query, address }) {
    const { page, next } = sliceAt(merchants, wholeNumber(query, 'page[after]', 0), PAGE);
    const path = new URL(address).pathname;
    const links = { self: path, next: next === null ? null : `${path}?page[after]=${next}` };
    const body = { data: page.map(merchantOf), links, meta: { total: merchants.length } };
    return json(200, body, { 'content-type': MEDIA_TYPE });
  },
  events: {
    newSecret: () => randomBytes(40).toString('base64'),
    message({ events: [event], secret, now }) {
      const { id, outcome, invoice } = event;
      const relationships = { invoice: { data: { type: 'invoices', id: invoice.id } } };
      const attributes = { name: `invoice.${outcome}`, failure: invoice.failure };
      const body = JSON.stringify({ data: { type: 'events', id, attributes, relationships } });
      const time = new Date(now).toISOString();
      const signature = createHmac('sha512', secret).update(`${time}\n${body}`).digest('hex');
      const headers = {
        'content-type': MEDIA_TYPE,
        'x-service-signed-at': time,
        'x-service-signature': `key=main;sig=${signature}`,
      };
      return { headers, body };
    },
  },
};

type Shape = ReturnType<typeof object>;

function resource(
  type: string,
  attributes: Readonly<Record<string, Shape>>,
  more: Readonly<Record<string, Shape>> = {},
): Shape {
  return object({ data: object({ type: constant(type), attributes: object(attributes), ...more }) });
}

function document(status: number, data: unknown): Reply {
  return json(status, { data, jsonapi: { version: '1.1' } }, { 'content-type': MEDIA_TYPE });
}

function shown({ id, status, failure }: BookedInvoice) {
  return { type: 'invoices', id, attributes: { status, failure } };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { type: 'merchants', id, attributes: { nif, legal_name: legalName } };
}
