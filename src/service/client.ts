import { setMaxListeners } from 'node:events';
import { Pool } from 'undici';
import { z } from 'zod';
import type {
  CreateAnswer,
  DeparturePermit,
  EndpointAnswer,
  InvoicingService,
  MerchantAnswer,
} from '../domain/ports/invoicing-service.ts';
import { classify, InvoiceId, MerchantId, type CreationShape } from './classify.ts';
import { exchange } from './exchange.ts';
import { createRequestLimiter } from './request-limiter.ts';
import type { HttpEnd } from './http-end.ts';
import { invoiceBody } from './invoice-body.ts';
import { readPointer } from '../domain/json-pointer.ts';
import type { LeasedSlots } from './leased-slots.ts';
import { readMerchantList } from './merchant-list.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { ServiceProfile } from './profile.ts';
import { readStatus } from './read-status.ts';
import { serviceAddress } from './service-address.ts';

/** Names as published (interface section 6). */
const EVENTS = ['invoice.issued', 'invoice.failed'];

/** In milliseconds. A connection takes one round trip or is not there; an engine may think for a while; an answer is small. */
export interface ServiceTimeouts {
  readonly connect: number;
  readonly headers: number;
  readonly body: number;
  readonly total: number;
}

const TIMEOUTS: ServiceTimeouts = { connect: 10_000, headers: 30_000, body: 10_000, total: 45_000 };

/** Shorter than the 5 s after which Node servers and many balancers close an idle connection: a stale one costs a lost answer. */
const KEEP_ALIVE_MS = 4_000;

/** Rate and concurrency that hold over all processes of a ledger. */
export interface SharedLimits {
  readonly rateLimiter?: RateLimiter;
  readonly slots?: LeasedSlots;
}

export interface InvoicingServiceOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly profile: ServiceProfile;
  readonly application: string;
  readonly clock?: () => number;
  readonly random?: () => number;
  readonly timeouts?: Partial<ServiceTimeouts>;
  /** What several processes share of the limits; default: the profile's limits, for this process alone. */
  readonly shared?: SharedLimits;
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
  readonly signal: AbortSignal | undefined;
  readonly permit?: DeparturePermit | undefined;
}

/**
 * The service over HTTP.
 * @throws LoteError `configuration-invalid` when the address or the key cannot be used.
 */
export function createInvoicingService(options: InvoicingServiceOptions): InvoicingService {
  const { profile } = options;
  const address = serviceAddress({ ...options, allowPlainHttp: profile.allowPlainHttp });
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const now = options.clock ?? Date.now;
  const limiter = createRequestLimiter({
    ...profile.limits,
    now,
    random: options.random ?? Math.random,
    ...options.shared,
  });
  const pool = new Pool(address.origin, {
    connections: profile.limits.maxConcurrency,
    pipelining: 1,
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  const invoices = shapeOf(profile, { id: profile.invoice.id, idSchema: InvoiceId });
  const merchants = shapeOf(profile, { id: profile.merchants.createdId, idSchema: MerchantId });

  async function call(request: Call): Promise<HttpEnd> {
    const { method, signal, permit } = request;
    // One signal ends a whole slice, and each of its requests listens until it has ended: many listeners are no leak here.
    if (signal !== undefined) setMaxListeners(0, signal);
    const headers = {
      ...address.headers,
      ...(request.body !== undefined && JSON_BODY),
      ...(request.idempotencyKey !== undefined && { 'idempotency-key': request.idempotencyKey }),
    };
    const send = async (): Promise<HttpEnd> =>
      await exchange(
        pool,
        { method, path: address.pathPrefix + request.path, headers, body: request.body ?? null },
        { totalMs: timeouts.total, secret: options.apiKey, now, signal, permit },
      );
    return await limiter.pass(send, { signal, permit });
  }

  return {
    baseUrl: address.baseUrl,
    invoiceBody,
    async createInvoice(body, idempotencyKey, { signal, permit } = {}) {
      const end = await call({ method: 'POST', path: '/v1/invoices', body, idempotencyKey, signal, permit });
      return classify(end, invoices);
    },
    async getInvoice(serviceId, signal) {
      const end = await call({ method: 'GET', path: `/v1/invoices/${encodeURIComponent(serviceId)}`, signal });
      return readStatus(end, { serviceId, profile, shape: invoices });
    },
    async listMerchants(signal) {
      const parameter = encodeURIComponent(profile.merchants.cursorParameter);
      return await readMerchantList(
        async (cursor) =>
          await call({
            method: 'GET',
            path: `/v1/merchants${cursor === null ? '' : `?${parameter}=${encodeURIComponent(cursor)}`}`,
            signal,
          }),
        profile,
      );
    },
    async createMerchant(merchant, idempotencyKey, { signal, permit } = {}) {
      const body = JSON.stringify({ legal_name: merchant.legalName, nif: merchant.nif, email: merchant.email });
      const end = await call({ method: 'POST', path: '/v1/merchants', body, idempotencyKey, signal, permit });
      return merchantAnswer(classify(end, merchants));
    },
    async registerWebhook(url, signal) {
      // No Idempotency-Key is published for it, so it is never repeated here.
      const end = await call({
        method: 'POST',
        path: '/v1/webhooks',
        body: JSON.stringify({ url, events: EVENTS }),
        signal,
      });
      return endpointAnswer(end, profile);
    },
    async close() {
      await pool.close();
      await options.shared?.slots?.close();
    },
  };
}

const JSON_BODY = { 'content-type': 'application/json' };

function shapeOf(profile: ServiceProfile, id: Pick<CreationShape, 'id' | 'idSchema'>): CreationShape {
  return {
    ...id,
    errorCode: profile.error.code,
    errorMessage: profile.error.message,
    mismatchCodes: profile.idempotency.mismatchCodes,
  };
}

/** A creation that may have happened is asked again: the key is the merchant's for ever, and the list tells. */
function merchantAnswer(answer: CreateAnswer): MerchantAnswer {
  switch (answer.kind) {
    case 'created':
      return { kind: 'created', merchantId: answer.serviceId };
    case 'refused':
    case 'key-mismatch':
      return { kind: 'refused', reason: answer.reason };
    case 'access-denied':
      return { kind: 'access-denied', reason: answer.reason };
    case 'not-permitted':
      return answer;
    default:
      return { kind: 'not-now', reason: answer.reason, retryAfterMs: answer.retryAfterMs };
  }
}

const Secret = z.string().min(1).max(4_096);
const NO_ID: Pick<CreationShape, 'id' | 'idSchema'> = { id: '', idSchema: z.never() };

function endpointAnswer(end: HttpEnd, profile: ServiceProfile): EndpointAnswer {
  const cutShort = end.kind === 'answer' && end.body.kind === 'unreadable' && end.body.why === 'cut-short';
  if (end.kind === 'answer' && end.status >= 200 && end.status <= 299 && !cutShort) {
    const secret = Secret.safeParse(
      end.body.kind === 'json' ? readPointer(end.body.value, profile.webhook.secret) : undefined,
    );
    return { kind: 'registered', secret: secret.success ? secret.data : null };
  }
  const answer = classify(end, shapeOf(profile, NO_ID));
  if (answer.kind === 'created' || answer.kind === 'not-permitted')
    return { kind: 'refused', reason: { code: 'answer-unreadable', message: 'No answer' } };
  return { kind: answer.kind === 'lost' ? 'lost' : 'refused', reason: answer.reason };
}
