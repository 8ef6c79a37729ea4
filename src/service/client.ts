import { z } from 'zod';
import type {
  CreateAnswer,
  EndpointAnswer,
  InvoicingService,
  MerchantAnswer,
} from '../domain/ports/invoicing-service.ts';
import { compileExpressions } from '../service-profile/expression.ts';
import { readPlace } from '../service-profile/place.ts';
import type { ServiceProfile } from '../service-profile/profile.ts';
import { classify } from './classify.ts';
import { documentOf, type ExchangeResult } from './exchange-result.ts';
import { invoiceBody } from './invoice-body.ts';
import { readMerchantList } from './merchants/merchant-list.ts';
import { readStatus } from './read-status.ts';
import { merchantBody, webhookBody } from './request-bodies.ts';
import type { CreationShape } from './seen-answer.ts';
import { type ConnectionOptions, openConnection } from './service-connection.ts';

/**
 * The service over HTTP.
 * @throws LoteError `configuration-invalid` when the address or the key cannot be used.
 */
export function createInvoicingService(options: ConnectionOptions): InvoicingService {
  const { profile } = options;
  const { requests } = profile;
  const connection = openConnection(options);
  const call = readingExpressions(connection.call, profile);
  const invoices = shapeOf(profile, { id: profile.invoice.id, idPrefix: profile.invoice.idPrefix });
  const merchants = shapeOf(profile, { id: profile.merchants.createdId, idPrefix: profile.merchants.idPrefix });

  return {
    baseUrl: connection.baseUrl,
    invoiceBody: (invoice, merchantId) => invoiceBody(invoice, merchantId, requests.createInvoice.body),
    async createInvoice(body, idempotencyKey, { signal, permit } = {}) {
      const { path } = requests.createInvoice;
      const end = await call({ method: 'POST', path, body, idempotencyKey, signal, permit });
      return classify(end, invoices);
    },
    async getInvoice(serviceId, signal) {
      const path = requests.getInvoice.path.replaceAll('{id}', encodeURIComponent(serviceId));
      return readStatus(await call({ method: 'GET', path, signal }), { serviceId, profile, shape: invoices });
    },
    async listMerchants(signal) {
      // It evaluates its own expressions, over pages and items.
      return await readMerchantList(async (path) => await connection.call({ method: 'GET', path, signal }), {
        profile,
        baseUrl: connection.baseUrl,
      });
    },
    async createMerchant(merchant, idempotencyKey, { signal, permit } = {}) {
      const { path, body: template } = requests.createMerchant;
      const body = merchantBody(merchant, template);
      return merchantAnswer(
        classify(await call({ method: 'POST', path, body, idempotencyKey, signal, permit }), merchants),
      );
    },
    async registerWebhook(url, signal) {
      const { path, body: template } = requests.registerWebhook;
      const body = webhookBody(url, template);
      // No Idempotency-Key is published for it, so it is never repeated here.
      return endpointAnswer(await call({ method: 'POST', path, body, signal }), profile);
    },
    close: () => connection.close(),
  };
}

type Call = ReturnType<typeof openConnection>['call'];

/** The expressions of the profile are evaluated once for each answer, before it is read. Without any, nothing is added. */
function readingExpressions(call: Call, { invoice, merchants, error, answers, webhook }: ServiceProfile): Call {
  const evaluate = compileExpressions([
    ...[invoice.id, invoice.status, invoice.reasonCode, invoice.reasonMessage, merchants.createdId],
    ...[error.code, error.message, webhook.secret, answers.status, answers.success?.at ?? null],
    ...answers.rules.flatMap(({ has = null, id = null }) => [has, id]),
  ]);
  if (evaluate === null) return call;
  return async (request) => {
    const end = await call(request);
    if (end.kind !== 'answer') return end;
    const { computed } = await evaluate(documentOf(end));
    return { ...end, ...(computed !== undefined && { computed }) };
  };
}

function shapeOf(profile: ServiceProfile, id: Pick<CreationShape, 'id' | 'idPrefix'>): CreationShape {
  return {
    ...id,
    errorCode: profile.error.code,
    errorMessage: profile.error.message,
    mismatchCodes: profile.idempotency.mismatchCodes,
    answers: profile.answers,
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
const NO_ID: Pick<CreationShape, 'id' | 'idPrefix'> = { id: '', idPrefix: null };

function endpointAnswer(end: ExchangeResult, profile: ServiceProfile): EndpointAnswer {
  const cutShort = end.kind === 'answer' && end.body.kind === 'unreadable' && end.body.why === 'cut-short';
  if (end.kind === 'answer' && end.status >= 200 && end.status <= 299 && !cutShort) {
    const secret = Secret.safeParse(readPlace(documentOf(end), profile.webhook.secret));
    return { kind: 'registered', secret: secret.success ? secret.data : null };
  }
  const answer = classify(end, shapeOf(profile, NO_ID));
  if (answer.kind === 'created' || answer.kind === 'not-permitted')
    return { kind: 'refused', reason: { code: 'answer-unreadable', message: 'No answer' } };
  return { kind: answer.kind === 'lost' ? 'lost' : 'refused', reason: answer.reason };
}
