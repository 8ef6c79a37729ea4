import type { CreateAnswer, InvoicingService, MerchantAnswer } from '../domain/ports/invoicing-service.ts';
import type { ServiceProfile } from '../service-profile/profile.ts';
import { answerExpressions, invoiceShape, merchantShape } from './answer-shapes.ts';
import { classify } from './classify.ts';
import { invoiceBody } from './invoice-body.ts';
import { readMerchantList } from './merchants/merchant-list.ts';
import { readRegistration } from './read-registration.ts';
import { readStatus } from './read-status.ts';
import { merchantBody, webhookBody } from './request-bodies.ts';
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
  const invoices = invoiceShape(profile);
  const merchants = merchantShape(profile);

  return {
    baseUrl: connection.baseUrl,
    invoiceBody: (invoice, merchantId) => invoiceBody(invoice, merchantId, requests.createInvoice.body),
    async createInvoice(body, idempotencyKey, { signal, permit } = {}) {
      const { path } = requests.createInvoice;
      const post = { operation: 'create-invoice', method: 'POST', path, body, idempotencyKey } as const;
      return classify(await call({ ...post, signal, permit }), invoices);
    },
    async getInvoice(serviceId, signal) {
      const path = requests.getInvoice.path.replaceAll('{id}', encodeURIComponent(serviceId));
      const end = await call({ operation: 'get-invoice', method: 'GET', path, signal });
      return readStatus(end, { serviceId, profile, shape: invoices });
    },
    async listMerchants(signal) {
      const get = { operation: 'list-merchants', method: 'GET', signal } as const;
      // It evaluates its own expressions, over pages and items.
      return await readMerchantList(async (path) => await connection.call({ ...get, path }), {
        profile,
        baseUrl: connection.baseUrl,
      });
    },
    async createMerchant(merchant, idempotencyKey, limits = {}) {
      const { path, body: template } = requests.createMerchant;
      const body = merchantBody(merchant, template);
      const post = { operation: 'create-merchant', method: 'POST', path, body, idempotencyKey } as const;
      return merchantAnswer(classify(await call({ signal: undefined, ...post, ...limits }), merchants));
    },
    async registerWebhook(url, signal) {
      const { path, body: template } = requests.registerWebhook;
      const body = webhookBody(url, template);
      // No Idempotency-Key is published for it, so it is never repeated here.
      const end = await call({ operation: 'register-webhook', method: 'POST', path, body, signal });
      return readRegistration(end, profile);
    },
    close: () => connection.close(),
  };
}

type Call = ReturnType<typeof openConnection>['call'];

/** Without expressions in the profile nothing is added. */
function readingExpressions(call: Call, profile: ServiceProfile): Call {
  const evaluate = answerExpressions(profile);
  return evaluate === null ? call : async (request) => await evaluate(await call(request));
}

/** A creation that may have happened is asked again: the key is the merchant's for ever, and the list tells. */
function merchantAnswer(answer: CreateAnswer): MerchantAnswer {
  switch (answer.kind) {
    case 'created':
      return { kind: 'created', merchantId: answer.serviceId };
    case 'refused':
      return { kind: 'refused', reason: answer.reason };
    case 'access-denied':
      return { kind: 'access-denied', reason: answer.reason };
    case 'not-permitted':
      return answer;
    // Another file spells its details otherwise and creates it at this moment: the list has it soon.
    case 'key-mismatch':
      return { kind: 'not-now', reason: answer.reason, retryAfterMs: null };
    default:
      return { kind: 'not-now', reason: answer.reason, retryAfterMs: answer.retryAfterMs };
  }
}
