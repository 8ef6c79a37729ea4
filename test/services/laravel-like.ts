import { createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, statusOf, wholeNumber } from './fake/published.ts';

const PROFILE: unknown = {
  answers: {
    wait: { at: 'header:X-RateLimit-Reset', unit: 'epoch-seconds' },
    rules: [{ status: [422], has: '/errors/idempotency_key', means: 'mismatch' }],
  },
  error: { code: 'jsonata:$keys(errors)[0]', message: ['jsonata:$lookup(errors, $keys(errors)[0])[0]', '/message'] },
  invoice: {
    id: '/data/uuid',
    status: '/data/status',
    issued: ['issued'],
    failed: ['failed', 'void'],
    reasonCode: '/data/error_code',
    reasonMessage: '/data/error_message',
  },
  merchants: {
    createdId: '/data/id',
    paging: 'page',
    pageParameter: 'p',
    sizeParameter: 'size',
    pageSize: 50,
  },
  webhook: { secret: '/data/secret' },
  signature: {
    algorithm: 'sha384',
    encoding: 'base64url',
    prefix: 'sig-',
    timestamp: 'header:X-Service-Time',
    signed: '{header:X-Service-Event}|{timestamp}|{body}',
    secret: { prefix: 'hex:', encoding: 'hex' },
  },
  event: {
    payload: { at: '/payload', encoding: 'text' },
    type: '/displayName',
    issued: ['App\\Events\\InvoiceIssued'],
    failed: ['App\\Events\\InvoiceFailed'],
    invoiceId: '/invoice/uuid',
    eventId: '/uuid',
    reasonCode: '/invoice/error_code',
    reasonMessage: '/invoice/error_message',
  },
  limits: { requestsPerSecond: 200 },
};

/** `{errors:{field:[…]}}`; pages until an empty one; a payload as JSON text; base64url of SHA-384 under a secret in hex. */
export const laravelLike: Family = {
  name: 'laravel-like',
  profile: PROFILE,
  requests: PUBLISHED,
  answers: {
    invoiceId: (number) => `inv_${String(number).padStart(8, '0')}-77aa`,
    merchantId: (number) => `mrc_${number}-c0`,
    created: (invoice) => json(202, { data: shown(invoice) }),
    shown: (invoice) => json(200, { data: shown(invoice) }),
    merchantCreated: (merchant) => json(201, { data: merchantOf(merchant) }),
    registered: ({ id, secret }) => json(201, { data: { id, secret } }),
    problem(problem) {
      const { kind, message, field } = problem;
      const status = kind === 'mismatch' ? 422 : statusOf(problem);
      const soon = String(Math.ceil(Date.now() / 1000) + 1);
      const headers = kind === 'too-fast' ? { 'x-ratelimit-reset': soon } : {};
      return json(status, { message: 'The given data was invalid.', errors: { [field]: [message] } }, headers);
    },
  },
  list(merchants, { query }) {
    const size = wholeNumber(query, 'size', 15);
    const { page } = sliceAt(merchants, wholeNumber(query, 'p', 0) * size, size);
    return json(200, { data: page.map(merchantOf) });
  },
  events: {
    newSecret: () => `hex:${randomBytes(32).toString('hex')}`,
    message({ id, events: [event], secret, now }) {
      const displayName = `App\\Events\\Invoice${event.outcome === 'issued' ? 'Issued' : 'Failed'}`;
      const payload = JSON.stringify({ uuid: event.id, displayName, invoice: shown(event.invoice) });
      const body = JSON.stringify({ job: id, payload });
      const key = Buffer.from(secret.slice('hex:'.length), 'hex');
      const time = String(now);
      const signature = createHmac('sha384', key).update(`invoices|${time}|${body}`).digest('base64url');
      const headers = {
        'content-type': 'application/json',
        'x-service-event': 'invoices',
        'x-service-time': time,
        'x-service-signature': `sig-${signature}`,
      };
      return { headers, body };
    },
  },
};

function shown({ id, status, failure }: BookedInvoice) {
  return { uuid: id, status, error_code: failure?.code ?? null, error_message: failure?.message ?? null };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id, nif, legal_name: legalName };
}
