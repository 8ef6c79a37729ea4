import { createHmac, randomBytes } from 'node:crypto';
import { number, object, text } from './fake/body-shape.ts';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, PUBLISHED_LINES, sliceAt, statusOf, wholeNumber } from './fake/published.ts';

const PROFILE: unknown = {
  requests: {
    headers: { 'X-Api-Version': '2026-03-01' },
    createInvoice: {
      body: {
        merchant_id: '{merchant_id:number}',
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
    },
  },
  answers: {
    wait: { at: 'header:X-RateLimit-Reset', unit: 'epoch-seconds' },
    rules: [
      { status: [403], has: 'header:X-RateLimit-Reset', means: 'later' },
      { status: [403], means: 'access' },
      { status: [422], code: ['already_used'], means: 'mismatch' },
    ],
  },
  error: { code: '/errors/0/code', message: '/message' },
  invoice: { id: '/number', idPrefix: '', status: '/state', reasonCode: '/state_reason', reasonMessage: '/state_text' },
  merchants: {
    createdId: '/id',
    idPrefix: '',
    items: '',
    id: '/id',
    nif: '/tax_number',
    paging: 'link',
    nextLink: 'header:Link',
    sizeParameter: 'per_page',
    pageSize: 50,
  },
  webhook: { secret: '/config/secret' },
  signature: { header: 'X-Service-Signature-256', prefix: 'sha256=', separator: '' },
  event: {
    type: 'header:X-Service-Event',
    eventId: 'header:X-Service-Delivery',
    invoiceId: '/invoice/number',
    reasonCode: '/invoice/state_reason',
    reasonMessage: '/invoice/state_text',
  },
  idempotency: { mismatchCodes: [] },
};

/** `sha256=`; numeric ids; a list with a `Link` header; 403 with `Retry-After` for too fast; type of an event in a header. */
export const githubLike: Family = {
  name: 'github-like',
  profile: PROFILE,
  requests: {
    ...PUBLISHED,
    headers: { 'X-Api-Version': '2026-03-01' },
    createInvoice: {
      path: '/v1/invoices',
      shape: object({
        merchant_id: number('merchantId'),
        customer: object({ name: text('customerName'), tax_id: text('customerTaxId') }, ['tax_id']),
        currency: text('currency'),
        lines: PUBLISHED_LINES,
      }),
    },
  },
  answers: {
    invoiceId: (counted) => String(4_100_000_000 + counted),
    merchantId: (counted) => String(88_000 + counted),
    created: (invoice) => json(201, shown(invoice)),
    shown: (invoice) => json(200, shown(invoice)),
    merchantCreated: (merchant) => json(201, merchantOf(merchant)),
    registered: ({ url, secret }) => json(201, { id: 7, active: true, config: { url, secret } }),
    problem(problem) {
      const { kind, code, message, field } = problem;
      if (kind === 'too-fast')
        return json(
          403,
          { message: 'You have exceeded a rate limit' },
          { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000)) },
        );
      const mismatch = kind === 'mismatch';
      const errors = [{ resource: 'Invoice', field, code: mismatch ? 'already_used' : code }];
      return json(mismatch ? 422 : statusOf(problem), { message, errors });
    },
  },
  list(merchants, { query, address }) {
    const size = wholeNumber(query, 'per_page', 30);
    const current = wholeNumber(query, 'page', 1);
    const { page, next } = sliceAt(merchants, (current - 1) * size, size);
    const at = (which: number, rel: string): string => `<${address}?per_page=${size}&page=${which}>; rel="${rel}"`;
    const links = [
      ...(current > 1 ? [at(current - 1, 'prev')] : []),
      ...(next === null ? [] : [at(current + 1, 'next')]),
    ];
    return json(200, page.map(merchantOf), { link: [...links, at(1, 'first')].join(', ') });
  },
  events: {
    newSecret: () => randomBytes(20).toString('hex'),
    message({ id, events: [event], secret }) {
      const body = JSON.stringify({ action: 'completed', invoice: shown(event.invoice) });
      const headers = {
        'content-type': 'application/json',
        'x-service-event': `invoice.${event.outcome}`,
        'x-service-delivery': id,
        'x-service-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      };
      return { headers, body };
    },
  },
};

function shown({ id, status, failure }: BookedInvoice) {
  return {
    number: Number(id),
    state: status,
    state_reason: failure?.code ?? null,
    state_text: failure?.message ?? null,
  };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id: Number(id), tax_number: nif, name: legalName };
}
