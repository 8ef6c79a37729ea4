import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, sliceAt, statusOf, waitOf } from './fake/published.ts';

const PAGE = 64;

const PROFILE: unknown = {
  error: { code: ['/code', '/type'], message: ['/detail', '/title'] },
  invoice: { id: '/id', idPrefix: '', reasonCode: '/failure/code', reasonMessage: '/failure/detail' },
  merchants: {
    idPrefix: '',
    nextCursor: '/pagination/next_cursor',
    cursorParameter: 'after',
    more: '/pagination/has_more',
  },
  webhook: { secret: '/signing_key' },
  signature: {
    header: 'webhook-signature',
    encoding: 'base64',
    prefix: 'v1,',
    separator: ' ',
    timestamp: 'header:webhook-timestamp',
    signed: '{header:webhook-id}.{timestamp}.{body}',
    secret: { prefix: 'whsec_', encoding: 'base64' },
  },
  event: {
    invoiceId: '/data/id',
    eventId: 'header:webhook-id',
    reasonCode: '/data/failure/code',
    reasonMessage: '/data/failure/detail',
  },
};

/** Standard Webhooks; ids are UUIDs; a cursor stays beside `has_more`; errors are problem details (RFC 9457). */
export const standardWebhooksLike: Family = {
  name: 'standard-webhooks-like',
  profile: PROFILE,
  requests: PUBLISHED,
  answers: {
    invoiceId: (number) => uuidOf(`invoice ${number}`),
    merchantId: (number) => uuidOf(`merchant ${number}`),
    created: (invoice) => json(201, shown(invoice)),
    shown: (invoice) => json(200, shown(invoice)),
    merchantCreated: (merchant) => json(201, merchantOf(merchant)),
    registered: ({ id, url, secret }) => json(201, { id, url, signing_key: secret }),
    problem: (problem) => ({
      status: statusOf(problem),
      headers: { 'content-type': 'application/problem+json', ...waitOf(problem) },
      body: {
        type: `https://errors.example/${problem.kind}`,
        title: problem.kind,
        status: statusOf(problem),
        detail: problem.message,
        code: problem.code,
      },
    }),
  },
  list(merchants, { query }) {
    const after = query.get('after');
    const from = after === null ? 0 : Number(Buffer.from(after, 'base64url').toString());
    const { page, next } = sliceAt(merchants, from, PAGE);
    const cursor = next === null ? null : Buffer.from(String(next)).toString('base64url');
    return json(200, { data: page.map(merchantOf), pagination: { next_cursor: cursor, has_more: next !== null } });
  },
  events: {
    newSecret: () => `whsec_${randomBytes(24).toString('base64')}`,
    message({ id, events: [event], secret, now }) {
      const data = shown(event.invoice);
      const body = JSON.stringify({ type: `invoice.${event.outcome}`, timestamp: new Date(now).toISOString(), data });
      const time = String(Math.floor(now / 1000));
      const sign = (key: Buffer): string =>
        `v1,${createHmac('sha256', key).update(`msg_${id}.${time}.${body}`).digest('base64')}`;
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': `msg_${id}`,
        'webhook-timestamp': time,
        'webhook-signature': `${sign(Buffer.from('another key'))} v1a,AAAA ${sign(key)}`,
      };
      return { headers, body };
    },
  },
};

/** Always the same for the same thing. */
function uuidOf(what: string): string {
  const hex = createHash('sha256').update(what).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

function shown({ id, status, failure }: BookedInvoice) {
  return { id, status, ...(failure !== null && { failure: { code: failure.code, detail: failure.message } }) };
}

function merchantOf({ id, nif, legalName, email }: BookedMerchant) {
  return { id, nif, legal_name: legalName, email };
}
