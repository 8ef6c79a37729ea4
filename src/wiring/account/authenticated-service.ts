import type { CreateAnswer, InvoicingService, MerchantListAnswer } from '../../domain/ports/invoicing-service.ts';

export interface FirstContact {
  readonly service: InvoicingService;
  /** Whether the ledger knows the account: the service has answered with this key before. */
  readonly isKnown: () => Promise<boolean>;
  /** Records the account. @throws LoteError `interlock` when the ledger has another account by now */
  readonly remember: () => Promise<void>;
}

/**
 * The same service. Its account is remembered with the first answer that only a holder of the key gets, before the
 * caller hears the answer, and no invoice is POSTed before that: an address that never answered cannot have an invoice
 * of this ledger.
 */
export function authenticatedService({ service, isKnown, remember }: FirstContact): InvoicingService {
  let authenticated = false;

  async function noted<T extends { readonly kind: string }>(answer: T, proofs: readonly T['kind'][]): Promise<T> {
    if (!authenticated && proofs.includes(answer.kind)) {
      await remember();
      authenticated = true;
    }
    return answer;
  }

  async function listMerchants(signal?: AbortSignal): Promise<MerchantListAnswer> {
    return noted(await service.listMerchants(signal), ['list']);
  }

  /** Null: the service knows the key. */
  async function firstAnswer(signal?: AbortSignal): Promise<CreateAnswer | null> {
    if (authenticated) return null;
    authenticated = await isKnown();
    if (authenticated) return null;
    const answer = await listMerchants(signal);
    return answer.kind === 'list' ? null : notSent(answer);
  }

  async function firstCreation(...post: Parameters<InvoicingService['createInvoice']>): Promise<CreateAnswer> {
    const [, , limits] = post;
    return (await firstAnswer(limits?.signal)) ?? noted(await service.createInvoice(...post), ['created']);
  }

  return {
    baseUrl: service.baseUrl,
    invoiceBody: (invoice, merchantId) => service.invoiceBody(invoice, merchantId),
    listMerchants,
    createInvoice: (...post) => (authenticated ? service.createInvoice(...post) : firstCreation(...post)),
    getInvoice: (serviceId, signal) => service.getInvoice(serviceId, signal),
    createMerchant: async (merchant, idempotencyKey, limits) =>
      noted(await service.createMerchant(merchant, idempotencyKey, limits), ['created']),
    // Proves nothing: whatever answers 2xx to everything answers it to this, too.
    registerWebhook: (url, signal) => service.registerWebhook(url, signal),
    close: () => service.close(),
  };
}

/** What became of an invoice that waited for the list of merchants: nothing of it was sent, and the reason comes from the answer to the list of merchants. */
export function notSent({ reason }: Extract<MerchantListAnswer, { kind: 'unreadable' }>): CreateAnswer {
  return reason.code === 'service-unauthorized'
    ? { kind: 'access-denied', reason: { ...reason, code: 'http-401' }, retryAfterMs: null, mayExist: false }
    : { kind: 'not-now', reason, retryAfterMs: null };
}
