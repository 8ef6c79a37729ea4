import { z } from 'zod';
import type {
  CreateAnswer,
  EndpointAnswer,
  InvoicingService,
  MerchantAnswer,
} from '../domain/ports/invoicing-service.ts';
import { classify, InvoiceId, MerchantId, type CreationShape } from './classify.ts';
import type { ExchangeResult } from './exchange-result.ts';
import { invoiceBody } from './invoice-body.ts';
import { readPointer } from '../domain/json-pointer.ts';
import { readMerchantList } from './merchant-list.ts';
import type { ServiceProfile } from './profile.ts';
import { readStatus } from './read-status.ts';
import { type ConnectionOptions, openConnection } from './service-connection.ts';

/** Names as published (interface section 6). */
const EVENTS = ['invoice.issued', 'invoice.failed'];

/**
 * The service over HTTP.
 * @throws LoteError `configuration-invalid` when the address or the key cannot be used.
 */
export function createInvoicingService(options: ConnectionOptions): InvoicingService {
  const { profile } = options;
  const connection = openConnection(options);
  const call = connection.call;
  const invoices = shapeOf(profile, { id: profile.invoice.id, idSchema: InvoiceId });
  const merchants = shapeOf(profile, { id: profile.merchants.createdId, idSchema: MerchantId });

  return {
    baseUrl: connection.baseUrl,
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
    close: () => connection.close(),
  };
}

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

function endpointAnswer(end: ExchangeResult, profile: ServiceProfile): EndpointAnswer {
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
