import { createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, statusOf, waitOf, wholeNumber } from './fake/published.ts';

/** What the default profile means, with an empty profile: shows that the fake and the test are right. */
export const defaultLike: Family = {
  name: 'default-like',
  profile: {},
  requests: PUBLISHED,
  answers: {
    invoiceId: (number) => `inv_${number}`,
    merchantId: (number) => `mrc_${number}`,
    created: (invoice) => json(201, shown(invoice)),
    shown: (invoice) => json(200, shown(invoice)),
    merchantCreated: (merchant) => json(201, merchantOf(merchant)),
    registered: ({ id, secret }) => json(201, { id, secret }),
    problem: (problem) =>
      json(statusOf(problem), { error: { code: problem.code, message: problem.message } }, waitOf(problem)),
  },
  list(merchants, { query }) {
    const { page, next } = sliceAt(merchants, wholeNumber(query, 'cursor', 0), 100);
    return json(200, { data: page.map(merchantOf), next_cursor: next === null ? null : String(next) });
  },
  events: {
    newSecret: () => randomBytes(32).toString('hex'),
    message({ events: [event], secret }) {
      const body = JSON.stringify({ id: event.id, type: `invoice.${event.outcome}`, data: shown(event.invoice) });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      return { headers: { 'content-type': 'application/json', 'x-service-signature': signature }, body };
    },
  },
};

function shown({ id, status, failure }: BookedInvoice) {
  return { id, status, ...(failure !== null && { error: failure }) };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id, nif, legal_name: legalName };
}
