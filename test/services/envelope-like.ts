import { createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, statusOf, wholeNumber } from './fake/published.ts';

const NUMBERS = { processing: 1, issued: 2, failed: 3 } as const;

const PROFILE: unknown = {
  answers: {
    success: { at: '/success', is: ['true'] },
    status: '/statusCode',
    rules: [{ status: [409], code: ['E409'], means: 'mismatch' }],
  },
  error: { code: '/errors/0/code', message: '/errors/0/detail' },
  invoice: {
    id: '/result/id',
    status: '/result/status',
    issued: ['2'],
    failed: ['3'],
    reasonCode: '/result/reason/code',
    reasonMessage: '/result/reason/text',
  },
  merchants: {
    createdId: '/result/id',
    items: '/result/records',
    id: '/id',
    paging: 'page',
    pageParameter: 'page',
    sizeParameter: 'per_page',
    pageSize: 40,
    total: '/result/total',
  },
  webhook: { secret: '/result/token' },
  signature: { header: 'X-Service-Digest', encoding: 'base64', prefix: 'v1 ' },
  event: {
    items: '/events',
    type: '/kind',
    issued: ['INVOICE_ISSUED'],
    failed: ['INVOICE_FAILED'],
    invoiceId: '/invoice/id',
    eventId: '/sequence',
    reasonCode: '/invoice/reason/code',
    reasonMessage: '/invoice/reason/text',
  },
};

/** 200 with `success` and a status code of its own; page and total pages; statuses as numbers; base64 behind a version; many events in one delivery. */
export const envelopeLike: Family = {
  name: 'envelope-like',
  profile: PROFILE,
  requests: PUBLISHED,
  answers: {
    invoiceId: (number) => `inv_${String(number).padStart(12, '0')}`,
    merchantId: (number) => `mrc_${String(number).padStart(12, '0')}`,
    created: (invoice) => success({ id: invoice.id }),
    shown: (invoice) => success(shown(invoice)),
    merchantCreated: (merchant) => success(merchantOf(merchant)),
    registered: ({ secret }) => success({ token: secret }),
    problem(problem) {
      const code = `E${statusOf(problem)}`;
      const headers = problem.kind === 'too-fast' ? { 'retry-after': '1' } : {};
      const errors = [{ code, detail: problem.message }];
      return json(200, { success: false, statusCode: statusOf(problem), result: null, errors }, headers);
    },
  },
  list(merchants, { query }) {
    const size = wholeNumber(query, 'per_page', 10);
    const current = wholeNumber(query, 'page', 1);
    const { page } = sliceAt(merchants, (current - 1) * size, size);
    const total_pages = Math.ceil(merchants.length / size);
    return success({
      records: page.map(merchantOf),
      page: current,
      per_page: size,
      total_pages,
      total: merchants.length,
    });
  },
  events: {
    most: 8,
    newSecret: () => randomBytes(24).toString('base64url'),
    message({ events, secret }) {
      const items = events.map(({ number, outcome, invoice }) => ({
        sequence: number,
        kind: `INVOICE_${outcome.toUpperCase()}`,
        invoice: shown(invoice),
      }));
      const body = JSON.stringify({ count: items.length, events: items });
      const signature = createHmac('sha256', secret).update(body).digest('base64');
      return { headers: { 'content-type': 'application/json', 'x-service-digest': `v1 ${signature}` }, body };
    },
  },
};

function success(result: unknown) {
  return json(200, { success: true, statusCode: 200, result, errors: [] });
}

function shown({ id, status, failure }: BookedInvoice) {
  const reason = failure === null ? null : { code: failure.code, text: failure.message };
  return { id, status: NUMBERS[status], reason };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id, nif: Number(nif), name: legalName };
}
