import { createHmac, randomBytes } from 'node:crypto';
import { constant, list, numberText, object, text } from './fake/body-shape.ts';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, waitOf, wholeNumber } from './fake/published.ts';

const BASE = '/admin/api/2026-01';
const PAGE = 90;

const PROFILE: unknown = {
  requests: {
    createInvoice: {
      path: `${BASE}/invoices.json`,
      body: {
        invoice: {
          source: 'batch',
          test: false,
          merchant: '{merchant_id}',
          buyer: '{customer.name}',
          buyer_tax_number: '{customer.tax_id}',
          currency_code: '{currency}',
          line_items: [
            {
              $each: 'lines',
              title: '{description}',
              quantity: '{quantity:text}',
              price: '{unit_price:text}',
              tax: '{tax_code}',
            },
          ],
        },
      },
    },
    getInvoice: { path: `${BASE}/invoices/{id}.json`, carriesId: false },
    createMerchant: {
      path: `${BASE}/merchants.json`,
      body: { merchant: { name: '{legal_name}', vat_number: 'PT{nif}', contact_email: '{email}' } },
    },
    listMerchants: { path: `${BASE}/merchants.json` },
    registerWebhook: { path: `${BASE}/webhooks.json`, body: { webhook: { address: '{url}', format: 'json' } } },
  },
  answers: {
    rules: [
      { status: [422], has: '/errors/idempotency_key', means: 'mismatch' },
      { status: [422], has: '/errors', means: 'refused' },
    ],
  },
  error: {
    code: 'jsonata:$keys(errors)[0]',
    message: 'jsonata:$join($each(errors, function($v, $k) { $k & " " & $v[0] }), "; ")',
  },
  invoice: {
    id: '/invoice/id',
    idPrefix: '',
    status: '/invoice/status',
    issued: ['ISSUED', 'PAID'],
    failed: ['FAILED'],
    reasonCode: '/invoice/failure/code',
    reasonMessage: '/invoice/failure/message',
  },
  merchants: {
    createdId: '/merchant/id',
    idPrefix: '',
    items: '/merchants',
    nif: 'jsonata:$substringAfter(vat_number, "PT")',
    paging: 'link',
    nextLink: '/next',
    total: '/count',
  },
  webhook: { secret: '/webhook/shared_secret' },
  signature: { header: 'X-Service-Hmac-Sha256', encoding: 'base64' },
  event: {
    type: 'header:X-Service-Topic',
    issued: ['invoices/issued'],
    failed: ['invoices/rejected'],
    invoiceId: '/invoice_id',
    eventId: 'header:X-Service-Webhook-Id',
    reasonCode: '/failure/code',
    reasonMessage: '/failure/message',
  },
  limits: { maxConcurrency: 16 },
};

/** Another base path, wrapped and renamed bodies, amounts as texts, constants; base64; `{errors:{field:[…]}}`; absolute next link. */
export const shopifyLike: Family = {
  name: 'shopify-like',
  profile: PROFILE,
  requests: {
    ...PUBLISHED,
    createInvoice: {
      path: `${BASE}/invoices.json`,
      shape: object({
        invoice: object({
          source: constant('batch'),
          test: constant(false),
          merchant: text('merchantId'),
          buyer: text('customerName'),
          buyer_tax_number: text('customerTaxId'),
          currency_code: text('currency'),
          line_items: list(
            'lines',
            object({
              title: text('description'),
              quantity: numberText('quantity'),
              price: numberText('unitPrice'),
              tax: text('taxCode'),
            }),
          ),
        }),
      }),
    },
    getInvoice: `${BASE}/invoices/{id}.json`,
    createMerchant: {
      path: `${BASE}/merchants.json`,
      shape: object({
        merchant: object({ name: text('legalName'), vat_number: vatNumber, contact_email: text('email') }),
      }),
    },
    listMerchants: `${BASE}/merchants.json`,
    registerWebhook: {
      path: `${BASE}/webhooks.json`,
      shape: object({ webhook: object({ address: text('url'), format: constant('json') }) }),
    },
  },
  answers: {
    invoiceId: (number) => String(550_000_000_000 + number),
    merchantId: (number) => String(330_000_000 + number),
    created: (invoice) => json(201, { invoice: shown(invoice) }),
    shown: (invoice) => json(200, { invoice: shown(invoice) }),
    merchantCreated: (merchant) => json(201, { merchant: merchantOf(merchant) }),
    registered: ({ url, secret }) => json(201, { webhook: { address: url, shared_secret: secret } }),
    problem(problem) {
      const { kind, message, field } = problem;
      const statuses = { refused: 422, mismatch: 422, 'too-fast': 429, trouble: 500, access: 401, 'not-found': 404 };
      return json(statuses[kind], { errors: { [field]: [message] } }, waitOf(problem));
    },
  },
  list(merchants, { query, address }) {
    const { page, next } = sliceAt(merchants, wholeNumber(query, 'since', 0), PAGE);
    const link = next === null ? null : `${address}?since=${next}`;
    return json(200, { count: merchants.length, next: link, previous: null, merchants: page.map(merchantOf) });
  },
  events: {
    newSecret: () => randomBytes(32).toString('hex'),
    message({ id, events: [event], secret }) {
      const { invoice, outcome } = event;
      const body = JSON.stringify({ invoice_id: Number(invoice.id), failure: invoice.failure });
      const headers = {
        'content-type': 'application/json',
        'x-service-topic': outcome === 'issued' ? 'invoices/issued' : 'invoices/rejected',
        'x-service-webhook-id': id,
        'x-service-hmac-sha256': createHmac('sha256', secret).update(body, 'utf8').digest('base64'),
      };
      return { headers, body };
    },
  },
};

function vatNumber(value: unknown, found: Record<string, unknown>): string | null {
  const nif = typeof value === 'string' ? /^PT(\d{9})$/.exec(value)?.[1] : undefined;
  if (nif === undefined) return 'vat_number must be PT and nine digits';
  found['nif'] = nif;
  return null;
}

function shown({ id, status, failure }: BookedInvoice) {
  return { id: Number(id), status: status.toUpperCase(), failure };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id: Number(id), name: legalName, vat_number: `PT${nif}` };
}
