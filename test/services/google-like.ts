import { createHmac, randomBytes } from 'node:crypto';
import { list, number, object, text } from './fake/body-shape.ts';
import type { BookedInvoice, BookedMerchant, Family, Problem } from './fake/family.ts';
import { eventNames, json, PUBLISHED, sliceAt, statusOf, waitOf, wholeNumber } from './fake/published.ts';

const PROFILE: unknown = {
  requests: {
    createInvoice: {
      path: '/v1/projects/main/invoices',
      body: {
        merchant: 'merchants/{merchant_id}',
        customer: { displayName: '{customer.name}', taxNumber: '{customer.tax_id}' },
        currencyCode: '{currency}',
        items: [
          {
            $each: 'lines',
            description: '{description}',
            quantity: '{quantity}',
            unitPrice: '{unit_price}',
            taxCode: '{tax_code}',
          },
        ],
      },
    },
    getInvoice: { path: '/v1/projects/main/invoices/{id}' },
    createMerchant: { body: { displayName: '{legal_name}', taxNumber: '{nif}', contact: { email: '{email}' } } },
    registerWebhook: { body: { pushEndpoint: '{url}', events: '{events}' } },
  },
  error: { code: ['/error/details/0/reason', '/error/status'], message: '/error/message' },
  answers: { rules: [{ status: [409], code: ['IDEMPOTENCY_MISMATCH'], means: 'mismatch' }] },
  invoice: {
    id: 'jsonata: $split(name, "/")[-1]',
    idPrefix: '',
    status: '/state',
    issued: ['STATE_ISSUED'],
    failed: ['STATE_FAILED'],
    reasonCode: '/stateReason/code',
    reasonMessage: '/stateReason/message',
  },
  merchants: {
    createdId: '/merchantId',
    idPrefix: '',
    items: '/merchants',
    id: '/merchantId',
    nif: '/taxNumber',
    nextCursor: '/nextPageToken',
    cursorParameter: 'pageToken',
    sizeParameter: 'pageSize',
    pageSize: 75,
  },
  webhook: { register: false },
  event: {
    payload: { at: '/message/data', encoding: 'base64' },
    type: '/eventType',
    issued: ['INVOICE_STATE_ISSUED'],
    failed: ['INVOICE_STATE_FAILED'],
    invoiceId: '/resource',
    eventId: '/eventId',
    reasonCode: '/stateReason/code',
    reasonMessage: '/stateReason/message',
  },
};

const CODES: Readonly<Record<Problem['kind'], string>> = {
  refused: 'INVALID_ARGUMENT',
  mismatch: 'IDEMPOTENCY_MISMATCH',
  'too-fast': 'RESOURCE_EXHAUSTED',
  trouble: 'UNAVAILABLE',
  access: 'UNAUTHENTICATED',
  'not-found': 'NOT_FOUND',
};

/** Push messages whose data is base64, to an address that is registered by hand; ids inside resource names; words in capitals. */
export const googleLike: Family = {
  name: 'google-like',
  profile: PROFILE,
  registersByHand: true,
  requests: {
    ...PUBLISHED,
    createInvoice: {
      path: '/v1/projects/main/invoices',
      shape: object({
        merchant: merchantName,
        customer: object({ displayName: text('customerName'), taxNumber: text('customerTaxId') }, ['taxNumber']),
        currencyCode: text('currency'),
        items: list(
          'lines',
          object({
            description: text('description'),
            quantity: number('quantity'),
            unitPrice: number('unitPrice'),
            taxCode: text('taxCode'),
          }),
        ),
      }),
    },
    getInvoice: '/v1/projects/main/invoices/{id}',
    createMerchant: {
      path: '/v1/merchants',
      shape: object({
        displayName: text('legalName'),
        taxNumber: text('nif'),
        contact: object({ email: text('email') }),
      }),
    },
    registerWebhook: { path: '/v1/webhooks', shape: object({ pushEndpoint: text('url'), events: eventNames }) },
  },
  answers: {
    invoiceId: (counted) => `i-${(1_000_000 + counted).toString(36)}`,
    merchantId: (counted) => `m-${(5_000_000 + counted).toString(36)}`,
    created: (invoice) => json(200, shown(invoice)),
    shown: (invoice) => json(200, shown(invoice)),
    merchantCreated: (merchant) => json(200, merchantOf(merchant)),
    registered: () => json(200, {}),
    problem(problem) {
      const { kind, code, message } = problem;
      const status = kind === 'refused' ? 400 : statusOf(problem);
      const details = [{ reason: kind === 'refused' ? code.toUpperCase() : CODES[kind] }];
      return json(status, { error: { code: status, status: CODES[kind], message, details } }, waitOf(problem));
    },
  },
  list(merchants, { query }) {
    const size = wholeNumber(query, 'pageSize', 50);
    const { page, next } = sliceAt(merchants, wholeNumber(query, 'pageToken', 0), size);
    return json(200, { merchants: page.map(merchantOf), ...(next !== null && { nextPageToken: String(next) }) });
  },
  events: {
    newSecret: () => randomBytes(24).toString('base64url'),
    message({ id, events: [event], secret }) {
      const { invoice, outcome } = event;
      const inner = {
        eventId: event.id,
        eventType: `INVOICE_STATE_${outcome.toUpperCase()}`,
        resource: `//invoicing.example/projects/main/invoices/${invoice.id}`,
        stateReason: invoice.failure,
      };
      const data = Buffer.from(JSON.stringify(inner)).toString('base64');
      const message = { data, messageId: id, attributes: { origin: 'invoicing' } };
      const body = JSON.stringify({ message, subscription: 'projects/main/subscriptions/lote' });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      return { headers: { 'content-type': 'application/json', 'x-service-signature': signature }, body };
    },
  },
};

function merchantName(value: unknown, found: Record<string, unknown>): string | null {
  const id = typeof value === 'string' ? /^merchants\/(.+)$/.exec(value)?.[1] : undefined;
  if (id === undefined) return 'must be the name of a merchant';
  found['merchantId'] = id;
  return null;
}

function shown({ id, status, failure }: BookedInvoice) {
  const name = `projects/main/invoices/${id}`;
  return { name, state: `STATE_${status.toUpperCase()}`, ...(failure !== null && { stateReason: failure }) };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { name: `merchants/${id}`, merchantId: id, displayName: legalName, taxNumber: nif };
}
