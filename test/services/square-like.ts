import { createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, statusOf, waitOf, wholeNumber } from './fake/published.ts';

const PROFILE: unknown = {
  answers: {
    rules: [
      { status: [400], code: ['IDEMPOTENCY_KEY_REUSED'], means: 'mismatch' },
      { status: [500, 502, 503], means: 'lost' },
    ],
  },
  error: { code: '/errors/0/code', message: '/errors/0/detail' },
  invoice: {
    id: '/invoice/id',
    status: '/invoice/status',
    issued: ['ISSUED'],
    failed: ['FAILED'],
    reasonCode: '/invoice/errors/0/code',
    reasonMessage: '/invoice/errors/0/detail',
  },
  merchants: {
    createdId: '/merchant/id',
    items: '/merchants',
    nif: '/tax_ids/pt_nif',
    paging: 'offset',
    offsetParameter: 'offset',
    sizeParameter: 'limit',
    pageSize: 100,
    endsAtShortPage: true,
  },
  webhook: { secret: '/subscription/signature_key' },
  signature: {
    header: 'X-Service-Hmacsha1-Signature',
    algorithm: 'sha1',
    encoding: 'base64',
    signed: '{url}{body}',
    secret: { encoding: 'base64url' },
  },
  event: {
    items: '/batch',
    type: '/type',
    issued: ['invoice.issued', 'invoice.published'],
    failed: ['invoice.failed'],
    invoiceId: '/data/object/invoice/id',
    eventId: '/event_id',
    reasonCode: '/data/object/invoice/errors/0/code',
    reasonMessage: '/data/object/invoice/errors/0/detail',
  },
  retry: { failedReasonCodes: [] },
};

/** A signature over address and body; `{errors:[{code, detail}]}`; words in capitals; offset until a short page. */
export const squareLike: Family = {
  name: 'square-like',
  profile: PROFILE,
  requests: PUBLISHED,
  answers: {
    invoiceId: (number) => `inv_0-ChB${number}Q`,
    merchantId: (number) => `mrc_ML${number}`,
    created: (invoice) => json(200, { invoice: shown(invoice) }),
    shown: (invoice) => json(200, { invoice: shown(invoice) }),
    merchantCreated: (merchant) => json(200, { merchant: merchantOf(merchant) }),
    registered: ({ id, secret }) => json(200, { subscription: { id, signature_key: secret } }),
    problem(problem) {
      const { kind, code, message, field } = problem;
      const isInvalid = kind === 'refused' || kind === 'mismatch';
      const own = kind === 'mismatch' ? 'IDEMPOTENCY_KEY_REUSED' : code.toUpperCase();
      const errors = [{ category: 'INVALID_REQUEST_ERROR', code: own, detail: message, field }];
      return json(isInvalid ? 400 : statusOf(problem), { errors }, waitOf(problem));
    },
  },
  list(merchants, { query }) {
    const size = Math.min(wholeNumber(query, 'limit', 25), 100);
    const { page } = sliceAt(merchants, wholeNumber(query, 'offset', 0), size);
    return json(200, { merchants: page.map(merchantOf) });
  },
  events: {
    most: 3,
    newSecret: () => randomBytes(24).toString('base64url'),
    message({ events, url, secret }) {
      const batch = events.map(({ id, outcome, invoice }) => ({
        event_id: id,
        type: `invoice.${outcome}`,
        data: { object: { invoice: shown(invoice) } },
      }));
      const body = JSON.stringify({ batch });
      const key = Buffer.from(secret, 'base64url');
      const signature = createHmac('sha1', key).update(`${url}${body}`).digest('base64');
      return { headers: { 'content-type': 'application/json', 'x-service-hmacsha1-signature': signature }, body };
    },
  },
};

function shown({ id, status, failure }: BookedInvoice) {
  const errors = failure === null ? [] : [{ code: failure.code.toUpperCase(), detail: failure.message }];
  return { id, status: status === 'processing' ? 'UNPAID' : status.toUpperCase(), errors };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id, business_name: legalName, tax_ids: { pt_nif: nif } };
}
