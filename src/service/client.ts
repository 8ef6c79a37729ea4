import { classify } from './classify.ts';
import { readMerchantList } from './merchants/merchant-list.ts';
import { openConnection, type ConnectionOptions } from './service-connection.ts';
import { fillTemplate, invoiceBody } from './profile/body-template.ts';
import { isSecret } from './profile/hide-secret.ts';
import { isNothing, readPlace, shownPlace, isOneOf, wordAt } from './profile/place.ts';
import type { ServiceProfile } from './profile/profile.ts';
import { documentOf, isPage, type AnswerBody, type ExchangeResult } from './exchange-result.ts';
import { answerExpressions, errorText, look, shortWord } from './seen-answer.ts';
import { reasonCode, reasonText } from './profile/reason-text.ts';
import type {
  CreateAnswer,
  EndpointAnswer,
  MerchantAnswer,
  MerchantListAnswer,
  PostLimits,
  SeenStatus,
  StatusAnswer,
} from '../domain/records/service-answers.ts';
import type { Invoice } from '../domain/invoice.ts';

/** The Electronic Invoicing Service as Lote uses it, with timeouts and limits. Methods never throw for an answer. */
export type InvoicingService = ReturnType<typeof createInvoicingService>;

interface NewMerchant {
  readonly nif: string;
  readonly legalName: string;
  readonly email: string;
}

/**
 * Opens the service over HTTP.
 * @throws LoteError `configuration-invalid` when the address or the key cannot be used.
 */
export function createInvoicingService(options: ConnectionOptions) {
  const { profile } = options;
  const { requests, invoice, merchants, webhook } = profile;
  const connection = openConnection(options);
  const evaluate = answerExpressions(profile, [
    ...[invoice.id, invoice.status, invoice.reasonCode, invoice.reasonMessage],
    ...[merchants.createdId, webhook.secret],
  ]);
  const call: typeof connection.call = (request) => connection.call({ ...request, evaluate });

  return {
    baseUrl: connection.baseUrl,
    /**
     * Returns the exact bytes of POST /v1/invoices: published fields only, numbers as exact tokens. Lote freezes them in
     * the ledger before the first send.
     */
    invoiceBody: (of: Invoice, merchantId: string) => invoiceBody(of, merchantId, requests.createInvoice.body),
    async createInvoice(body: string, idempotencyKey: string, limits: PostLimits = {}): Promise<CreateAnswer> {
      const { signal, permit } = limits;
      const { path } = requests.createInvoice;
      const post = { operation: 'create-invoice', method: 'POST', path, body, idempotencyKey } as const;
      return classify(await call({ ...post, signal, permit }), profile, 'invoice');
    },
    async getInvoice(serviceId: string, signal?: AbortSignal): Promise<StatusAnswer> {
      const path = requests.getInvoice.path.replaceAll('{id}', encodeURIComponent(serviceId));
      const end = await call({ operation: 'get-invoice', method: 'GET', path, signal });
      return readStatus(end, serviceId, profile);
    },
    /** Reads all pages of the list. */
    async listMerchants(signal?: AbortSignal): Promise<MerchantListAnswer> {
      const get = { operation: 'list-merchants', method: 'GET', signal } as const;
      // `readMerchantList` evaluates its own expressions, over pages and items.
      return await readMerchantList(async (path) => await connection.call({ ...get, path }), {
        profile,
        baseUrl: connection.baseUrl,
      });
    },
    async createMerchant(
      merchant: NewMerchant,
      idempotencyKey: string,
      limits: PostLimits = {},
    ): Promise<MerchantAnswer> {
      const { path, body: template } = requests.createMerchant;
      const body = merchantBody(merchant, template);
      const post = { operation: 'create-merchant', method: 'POST', path, body, idempotencyKey } as const;
      return merchantAnswer(classify(await call({ signal: undefined, ...post, ...limits }), profile, 'merchant'));
    },
    async registerWebhook(url: string, signal?: AbortSignal): Promise<EndpointAnswer> {
      const { path, body: template } = requests.registerWebhook;
      const body = webhookBody(url, template);
      // The interface publishes no Idempotency-Key for this request, so Lote never repeats it here.
      const end = await call({ operation: 'register-webhook', method: 'POST', path, body, signal });
      return readRegistration(end, profile);
    },
    /** Closes all connections at once: requests under way get no answer, and later requests use new connections. */
    dropConnections: () => connection.drop(),
    close: () => connection.close(),
  };
}

/**
 * Turns a creation that may have happened into `not-now`, so that the caller asks again. This is safe: the key belongs
 * to the merchant for ever, and the list shows the merchant.
 */
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
    // Another file with other details of this merchant creates it at this moment, so the list has it soon.
    case 'key-mismatch':
      return { kind: 'not-now', reason: answer.reason, retryAfterMs: null };
    default:
      return { kind: 'not-now', reason: answer.reason, retryAfterMs: answer.retryAfterMs };
  }
}

/** Names as published (interface section 6). */
const EVENTS = ['invoice.issued', 'invoice.failed'];
/** The bodies as published, for a profile without templates. */
const PUBLISHED = {
  merchant: { legal_name: '{legal_name}', nif: '{nif}', email: '{email}' },
  webhook: { url: '{url}', events: '{events}' },
};

/** Returns the exact text of the POST that creates a merchant. */
export function merchantBody({ legalName, nif, email }: NewMerchant, template: unknown): string {
  const values = { legal_name: legalName, nif, email: email || undefined };
  return fillTemplate(template ?? PUBLISHED.merchant, { values });
}

/** Returns the exact text of the POST that registers the receiver. */
export function webhookBody(url: string, template: unknown): string {
  return fillTemplate(template ?? PUBLISHED.webhook, { values: { url, events: EVENTS } });
}

const LONGEST_SECRET = 4_096;

/**
 * Reads the answer to the registration of the receiver. The caller has evaluated the expressions of the profile. The
 * secret is null if it is masked or can be guessed.
 */
export function readRegistration(end: ExchangeResult, profile: ServiceProfile): EndpointAnswer {
  if (isRegistered(end, profile)) {
    const found = readPlace(documentOf(end), profile.webhook.secret);
    const isUsable = typeof found === 'string' && found.length <= LONGEST_SECRET && isSecret(found);
    return { kind: 'registered', secret: isUsable ? found : null };
  }
  const answer = classify(end, profile, null);
  if (answer.kind === 'created' || answer.kind === 'not-permitted')
    return { kind: 'refused', reason: { code: 'answer-unreadable', message: 'No answer' } };
  return { kind: answer.kind === 'lost' ? 'lost' : 'refused', reason: answer.reason };
}

/**
 * Tells whether the answer is a success by the profile, and no rule says otherwise. A page is no success: a gateway
 * answers 200, too, while the service is away.
 */
function isRegistered(end: ExchangeResult, profile: ServiceProfile): boolean {
  if (end.kind !== 'answer' || isUnread(end.body)) return false;
  const { success, meaning } = look(end, profile, null);
  return success && (meaning === null || meaning === 'exists');
}

/** Tells whether the body is incomplete, was not evaluated, or is the page of a gateway. */
function isUnread(body: AnswerBody): boolean {
  if (body.kind !== 'unreadable') return false;
  return body.why === 'cut-short' || body.why === 'not-evaluated' || isPage(body.text ?? '');
}

/** Words that services write at the place of the reason when there is no reason. */
const NO_REASON = /^(?:0|false|none|null|ok|success)$/i;

/** Reads the answer to a GET of an invoice. A status word that the profile does not know is `processing`: not final. */
export function readStatus(end: ExchangeResult, serviceId: string, profile: ServiceProfile): StatusAnswer {
  const { invoice, requests } = profile;
  const seen = look(end, profile, 'invoice');
  if (!seen.success) return withoutStatus(end, profile);
  const document = documentOf(end);
  const status = wordAt(readPlace(document, invoice.status));
  const found = readPlace(document, invoice.id);
  const speaksForItself = !requests.getInvoice.carriesId && isNothing(found);
  if (seen.serviceId !== serviceId && !speaksForItself) {
    // A cache or a gateway may answer instead of the service: only the id proves which invoice the answer is about.
    const doubtful = status !== null && !isOneOf(status, invoice.failed);
    const noId = `No id at ${shownPlace(invoice.id)}, and so no proof that the answer is about this invoice`;
    if (!seen.hasId) return { ...unreadable('status-without-id', noId), doubtful };
    return { ...unreadable('another-invoice-answered', 'The answer carries the id of another invoice'), doubtful };
  }
  const codeWord = wordAt(readPlace(document, invoice.reasonCode));
  const text = errorText(readPlace(document, invoice.reasonMessage));
  const place = shownPlace(invoice.status);
  const why = codeWord === null || NO_REASON.test(codeWord) ? (text === null ? null : 'text') : 'code';
  const stands: SeenStatus = { word: shortWord(status), place, why };
  if (status === null) return { ...unreadable('status-unreadable', `No status at ${place}`), seen: stands };
  if (isOneOf(status, invoice.issued)) return { kind: 'status', status: 'issued', reason: null, seen: stands };
  if (!isOneOf(status, invoice.failed)) return { kind: 'status', status: 'processing', reason: null, seen: stands };
  const message = reasonText(text ?? 'The service gave no reason');
  const reason = why === null ? null : { code: reasonCode(codeWord) ?? 'failed', message };
  return { kind: 'status', status: 'failed', reason, seen: stands };
}

function withoutStatus(end: ExchangeResult, profile: ServiceProfile): StatusAnswer {
  const answer = classify(end, profile, 'invoice');
  if (answer.kind === 'refused' || answer.kind === 'key-mismatch')
    return { kind: 'status', status: 'unreadable', reason: answer.reason };
  if (answer.kind === 'created' || answer.kind === 'not-permitted') return unreadable('status-unreadable', 'No status');
  return { kind: 'not-now', reason: answer.reason, retryAfterMs: answer.retryAfterMs };
}

function unreadable(code: string, message: string): Extract<StatusAnswer, { status: 'unreadable' }> {
  return { kind: 'status', status: 'unreadable', reason: { code, message } };
}
