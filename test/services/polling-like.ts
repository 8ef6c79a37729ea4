import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, statusOf, waitOf, wholeNumber } from './fake/published.ts';

const PROFILE: unknown = {
  allowPlainHttp: true,
  requests: { headers: { Accept: 'application/json' } },
  answers: {
    rules: [
      { status: [409], has: '/fault/mismatch', means: 'mismatch' },
      { status: [409], has: '/existing', means: 'exists', id: '/existing' },
    ],
  },
  error: { code: '/fault/code', message: '/fault/text' },
  invoice: {
    id: '/id',
    idPrefix: '',
    status: ['/processing/outcome', '/processing/stage'],
    issued: ['done'],
    failed: ['broken'],
    reasonCode: '/processing/code',
    reasonMessage: '/processing/text',
  },
  merchants: {
    idPrefix: '',
    items: '/content',
    nif: 'jsonata:identifiers[scheme = "NIF"].value',
    paging: 'page',
    pageParameter: 'page',
    more: 'jsonata:$not(last)',
  },
  webhook: { register: false },
  limits: { pollEverySeconds: 2 },
};

/** No events at all; a page says how many there are and whether it is the last; a repeat is 409 with the id. */
export const pollingLike: Family = {
  name: 'polling-like',
  profile: PROFILE,
  requests: { ...PUBLISHED, headers: { Accept: 'application/json' } },
  answers: {
    invoiceId: (number) => String(number * 3 + 1_000_000),
    merchantId: (number) => String(number * 7 + 500),
    created: ({ id }) => json(202, { id: Number(id) }),
    repeated: ({ id }) => json(409, { existing: Number(id), fault: { code: 'EXISTS', text: 'It was created before' } }),
    shown: (invoice) => json(200, shown(invoice)),
    merchantCreated: ({ id }) => json(200, { id: Number(id) }),
    merchantRepeated: ({ id }) =>
      json(409, { existing: Number(id), fault: { code: 'EXISTS', text: 'It was created before' } }),
    registered: () => json(404, {}),
    problem(problem) {
      const { kind, code, message } = problem;
      const fault = { code: code.toUpperCase(), text: message, ...(kind === 'mismatch' && { mismatch: true }) };
      return json(statusOf(problem), { fault }, waitOf(problem));
    },
  },
  list(merchants, { query }) {
    const size = 80;
    const current = wholeNumber(query, 'page', 0);
    const { page, next } = sliceAt(merchants, current * size, size);
    const totalPages = Math.ceil(merchants.length / size);
    return json(200, {
      content: page.map(merchantOf),
      last: next === null,
      page: { number: current, size, totalPages },
    });
  },
  events: null,
};

function shown({ id, status, failure }: BookedInvoice) {
  const outcomes = { processing: null, issued: 'DONE', failed: 'BROKEN' };
  const processing = {
    stage: 'queued',
    outcome: outcomes[status],
    code: failure?.code ?? null,
    text: failure?.message ?? null,
  };
  return { id: Number(id), processing };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  const identifiers = [
    { scheme: 'DUNS', value: `0${id}` },
    { scheme: 'NIF', value: nif },
  ];
  return { id: Number(id), name: legalName, identifiers };
}
