import { createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, statusOf, waitOf, wholeNumber } from './fake/published.ts';

const PROFILE: unknown = {
  answers: {
    rules: [
      { status: [409], code: ['E409'], means: 'mismatch' },
      { status: [422], code: ['E422', 'E400'], means: 'refused' },
    ],
  },
  error: { code: 'jsonata:$match($text, /^(E[0-9]+) /).groups[0]', message: 'text' },
  invoice: { id: ['header:Location', '/id'], idPrefix: '', reasonCode: '/reason', reasonMessage: '/reasonText' },
  merchants: {
    createdId: 'header:Location',
    idPrefix: '',
    items: '/items',
    nif: ['/taxpayer/nif', '/nif'],
    paging: 'offset',
    offsetParameter: 'skip',
    sizeParameter: 'take',
    pageSize: 60,
    total: '/total',
  },
  signature: { algorithm: 'sha512', signed: '{url}\n{body}' },
  event: {
    type: '/event',
    invoiceId: '/invoice/href',
    eventId: '/nr',
    reasonCode: '/reason',
    reasonMessage: '/reasonText',
  },
};

/** 201 without a body, whose `Location` ends with the id; errors as plain text; offset and total; SHA-512 over address and body. */
export const locationLike: Family = {
  name: 'location-like',
  profile: PROFILE,
  requests: PUBLISHED,
  answers: {
    invoiceId: (number) => `F${2026_000_000 + number}`,
    merchantId: (number) => `M${10_000 + number}`,
    created: ({ id }, origin) => ({ status: 201, headers: { location: `${origin}/v1/invoices/${id}` } }),
    shown: (invoice) => json(200, shown(invoice)),
    merchantCreated: ({ id }) => ({ status: 201, headers: { location: `/v1/merchants/${id}` } }),
    registered: ({ id, secret }) => json(201, { id, secret }),
    problem(problem) {
      const status = statusOf(problem);
      return { status, headers: waitOf(problem), text: `E${status} ${problem.message} (${problem.field})\n` };
    },
  },
  list(merchants, { query }) {
    const size = wholeNumber(query, 'take', 20);
    const from = wholeNumber(query, 'skip', 0);
    const { page } = sliceAt(merchants, from, size);
    return json(200, { total: merchants.length, skip: from, take: size, items: page.map(merchantOf) });
  },
  events: {
    newSecret: () => randomBytes(18).toString('base64url'),
    message({ events: [event], url, secret }) {
      const { invoice, number, outcome } = event;
      const body = JSON.stringify({
        nr: number,
        event: `invoice.${outcome}`,
        invoice: { href: `${new URL(url).protocol}//invoicing.example/v1/invoices/${invoice.id}` },
        ...(invoice.failure !== null && { reason: invoice.failure.code, reasonText: invoice.failure.message }),
      });
      const signature = createHmac('sha512', secret).update(`${url}\n${body}`).digest('hex');
      return { headers: { 'content-type': 'application/json', 'x-service-signature': signature }, body };
    },
  },
};

function shown({ id, status, failure }: BookedInvoice) {
  return { id, status, ...(failure !== null && { reason: failure.code, reasonText: failure.message }) };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id, taxpayer: { nif, name: legalName } };
}
