import { createHmac, randomBytes } from 'node:crypto';
import type { BookedInvoice, BookedMerchant, Family } from './fake/family.ts';
import { json, PUBLISHED, statusOf, waitOf } from './fake/published.ts';

const PROFILE: unknown = {
  environment: 'test',
  requests: { headers: { 'Service-Version': '2026-01-15' } },
  error: { code: ['/error/code', '/error/type'], message: '/error/message' },
  invoice: { reasonCode: '/last_failure/code', reasonMessage: '/last_failure/message' },
  merchants: {
    paging: 'cursor',
    nextCursor: 'jsonata:has_more ? data[-1].id',
    cursorParameter: 'starting_after',
    sizeParameter: 'limit',
    pageSize: 100,
    more: '/has_more',
  },
  signature: {
    kind: 'hmac',
    header: 'X-Service-Signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'v1=',
    separator: ',',
    timestamp: 'part:t=',
    signed: '{timestamp}.{body}',
    toleranceSeconds: 600,
    secret: { encoding: 'text' },
  },
  event: {
    invoiceId: '/data/object/id',
    reasonCode: '/data/object/last_failure/code',
    reasonMessage: '/data/object/last_failure/message',
  },
  idempotency: { retentionHours: 24, mismatchCodes: ['idempotency_mismatch'], refusedRepeatIsProof: true },
  retry: { failedReasonCodes: ['authority_busy'], maxGenerations: 4 },
};

/** `t=…,v1=…` over `{timestamp}.{body}`; a list that goes on after its last id as long as `has_more` is true. */
export const stripeLike: Family = {
  name: 'stripe-like',
  profile: PROFILE,
  requests: { ...PUBLISHED, headers: { 'Service-Version': '2026-01-15' } },
  answers: {
    invoiceId: (number) => `inv_${number}Ab_x`,
    merchantId: (number) => `mrc_${number}Zz`,
    created: (invoice) => json(200, shown(invoice)),
    shown: (invoice) => json(200, shown(invoice)),
    merchantCreated: (merchant) => json(200, merchantOf(merchant)),
    registered: ({ id, url, secret }) => json(200, { id: `we_${id}`, object: 'webhook_endpoint', url, secret }),
    problem: (problem) =>
      json(
        statusOf(problem),
        {
          error: { type: `${problem.kind}_error`, code: problem.code, message: problem.message, param: problem.field },
        },
        waitOf(problem),
      ),
  },
  list(merchants, { query, address }) {
    const size = Math.min(Number(query.get('limit') ?? 10), 100);
    const after = query.get('starting_after');
    const from = after === null ? 0 : merchants.findIndex(({ id }) => id === after) + 1;
    const data = merchants.slice(from, from + size).map(merchantOf);
    return json(200, {
      object: 'list',
      url: new URL(address).pathname,
      has_more: from + size < merchants.length,
      data,
    });
  },
  events: {
    newSecret: () => `whsec_${randomBytes(24).toString('base64')}`,
    message({ events: [event], secret, now }) {
      const object = shown(event.invoice);
      const body = JSON.stringify({
        id: event.id,
        object: 'event',
        type: `invoice.${event.outcome}`,
        data: { object },
      });
      const time = Math.floor(now / 1000);
      const sign = (key: string): string => createHmac('sha256', key).update(`${time}.${body}`).digest('hex');
      // As while a secret is replaced: the one of the other secret comes first.
      const signature = `t=${time},v1=${sign('another secret')},v1=${sign(secret)},v0=${'0'.repeat(64)}`;
      return { headers: { 'content-type': 'application/json', 'x-service-signature': signature }, body };
    },
  },
};

function shown({ id, status, failure, content }: BookedInvoice) {
  return { id, object: 'invoice', status, currency: content.currency, last_failure: failure };
}

function merchantOf({ id, nif, legalName }: BookedMerchant) {
  return { id, object: 'merchant', nif, legal_name: legalName };
}
