import { createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt } from './fake/published.ts';

const PAGE = 35;

const PROFILE: unknown = {
  answers: {
    success: { at: '/ok', is: ['true'] },
    wait: { at: '/retry_after', unit: 'seconds' },
    rules: [
      { code: ['tax_code_unknown', 'malformed', 'not_found'], means: 'refused' },
      { code: ['ratelimited'], means: 'later' },
      { code: ['not_authed', 'invalid_auth'], means: 'access' },
      { code: ['idempotency_mismatch'], means: 'mismatch' },
      { code: ['internal_error', 'fatal_error'], means: 'lost' },
    ],
  },
  error: { code: '/error', message: '/detail' },
  invoice: {
    id: '/invoice/id',
    status: '/invoice/status',
    reasonCode: '/invoice/why/code',
    reasonMessage: '/invoice/why/text',
  },
  merchants: {
    createdId: '/merchant/id',
    items: '/merchants',
    nextCursor: '/response_metadata/next_cursor',
    cursorParameter: 'cursor',
    notPaging: ['count'],
  },
  webhook: { secret: '/endpoint/signing_secret' },
  signature: {
    algorithm: 'sha1',
    prefix: 'v0=',
    separator: '',
    timestamp: 'header:X-Service-Request-Timestamp',
    signed: 'v0:{timestamp}:{body}',
    toleranceSeconds: 300,
    secret: { encoding: 'base64url' },
  },
  event: {
    type: '/event/type',
    invoiceId: '/event/invoice/id',
    eventId: '/event_id',
    reasonCode: '/event/invoice/why/code',
    reasonMessage: '/event/invoice/why/text',
  },
};

/** SHA-1 of `v0:{timestamp}:{body}`; every answer is 200 with `ok`; the last cursor is empty; `count` counts calls, not merchants. */
export const slackLike: Family = {
  name: 'slack-like',
  profile: PROFILE,
  requests: PUBLISHED,
  answers: {
    invoiceId: (number) => `inv_I0${number}`,
    merchantId: (number) => `mrc_M0${number}`,
    created: (invoice) => json(200, { ok: true, invoice: shown(invoice) }),
    shown: (invoice) => json(200, { ok: true, invoice: shown(invoice) }),
    merchantCreated: (merchant) => json(200, { ok: true, merchant: merchantOf(merchant) }),
    registered: ({ secret }) => json(200, { ok: true, endpoint: { signing_secret: secret } }),
    problem({ kind, code, message }) {
      const own: Readonly<Record<string, string>> = {
        'too-fast': 'ratelimited',
        access: 'invalid_auth',
        trouble: 'internal_error',
      };
      const wait = kind === 'too-fast' ? { retry_after: 1 } : {};
      return json(200, { ok: false, error: own[kind] ?? code, detail: message, ...wait });
    },
  },
  list(merchants, { query }) {
    const cursor = query.get('cursor');
    const from = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64').toString().slice('next:'.length));
    const { page, next } = sliceAt(merchants, from, PAGE);
    const following = next === null ? '' : Buffer.from(`next:${next}`).toString('base64');
    const metadata = { next_cursor: following };
    return json(200, { ok: true, count: 4_711, merchants: page.map(merchantOf), response_metadata: metadata });
  },
  events: {
    newSecret: () => randomBytes(16).toString('base64url'),
    message({ events: [event], secret, now }) {
      const inner = { type: `invoice.${event.outcome}`, invoice: shown(event.invoice) };
      const body = JSON.stringify({ type: 'event_callback', event_id: event.id, event: inner });
      const time = String(Math.floor(now / 1000));
      const signature = createHmac('sha1', Buffer.from(secret, 'base64url')).update(`v0:${time}:${body}`).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-service-request-timestamp': time,
        'x-service-signature': `v0=${signature}`,
      };
      return { headers, body };
    },
  },
};

function shown({ id, status, failure }: BookedInvoice) {
  return { id, status, ...(failure !== null && { why: { code: failure.code, text: failure.message } }) };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id, nif, name: legalName };
}
