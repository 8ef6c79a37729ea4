import { sharedAnswer } from '../../platform/concurrency.ts';
import { latestClock } from '../../domain/time/steady-clock.ts';
import type { CreateAnswer, MerchantListAnswer } from '../../domain/records/service-answers.ts';
import type { InvoicingService } from '../../service/client.ts';

/** Clocks that are set (NTP) differ by less than a second; so much is logged. */
const LOGGED_FROM_MS = 30_000;

/** The time by which the age of a key is judged. */
export interface ServiceTime {
  /** An answer has come, with this time (epoch milliseconds) in its head; null: with none. */
  heard(at: number | null): void;
  isHeard(): boolean;
  /** The later one of this machine's time and the service's, epoch milliseconds: the service forgets keys by its own. */
  latestNow(): number;
}

/** `onBehind` is called once, where the service's clock is 30 s ahead of this machine's or more. */
export function createServiceTime(onBehind: (aheadMs: number) => void, latest = latestClock()): ServiceTime {
  let isHeard = false;
  let isLogged = false;
  let named: { readonly at: number; readonly elapsed: number } | null = null;

  const latestNow = (): number =>
    Math.max(latest(), named === null ? 0 : Math.floor(named.at + performance.now() - named.elapsed));

  return {
    heard(at) {
      isHeard = true;
      if (at === null || at <= latestNow()) return;
      named = { at, elapsed: performance.now() };
      const aheadMs = at - latest();
      if (!isLogged && aheadMs >= LOGGED_FROM_MS) onBehind(aheadMs);
      isLogged ||= aheadMs >= LOGGED_FROM_MS;
    },
    isHeard: () => isHeard,
    latestNow,
  };
}

export interface FirstContact {
  readonly service: InvoicingService;
  /** Null: the built-in sandbox. */
  readonly time: Pick<ServiceTime, 'isHeard'> | null;
  /** Whether the ledger knows the account: the service has answered with this key before. */
  readonly isKnown: () => Promise<boolean>;
  /** Records the account. @throws LoteError `interlock` when the ledger has another account by now */
  readonly remember: () => Promise<void>;
}

/**
 * The same service. Its account is remembered with the first answer that only a holder of the key gets, before the
 * caller hears the answer, and no invoice is POSTed before that: an address that never answered cannot have an invoice
 * of this ledger. A key is repeated only after an answer, which names the service's time: by a clock that is behind, keys look
 * younger than they are.
 */
export function authenticatedService({ service, time, isKnown, remember }: FirstContact): InvoicingService {
  let authenticated = false;

  async function noted<T extends { readonly kind: string }>(answer: T, proof: T['kind']): Promise<T> {
    if (!authenticated && answer.kind === proof) {
      await remember();
      authenticated = true;
    }
    return answer;
  }

  async function listMerchants(signal?: AbortSignal): Promise<MerchantListAnswer> {
    return noted(await service.listMerchants(signal), 'list');
  }

  const firstList = sharedAnswer(() => listMerchants());

  /** What is answered instead of a first POST; null: it may leave. */
  async function firstAnswer(isRepeat: boolean, signal?: AbortSignal): Promise<CreateAnswer | null> {
    if (isRepeat && time?.isHeard() === false) {
      const list = await firstList();
      if (list.kind === 'unreadable' && !time.isHeard()) return notSent(list);
    }
    authenticated ||= await isKnown();
    if (authenticated) return null;
    const list = await listMerchants(signal);
    return list.kind === 'list' ? null : notSent(list);
  }

  return {
    baseUrl: service.baseUrl,
    invoiceBody: (invoice, merchantId) => service.invoiceBody(invoice, merchantId),
    listMerchants,
    async createInvoice(...post) {
      const [, , limits] = post;
      const isRepeat = (limits?.firstUsedAt ?? null) !== null;
      const instead = authenticated && !isRepeat ? null : await firstAnswer(isRepeat, limits?.signal);
      if (instead !== null) return instead;
      const answer = await service.createInvoice(...post);
      return authenticated ? answer : noted(answer, 'created');
    },
    getInvoice: (serviceId, signal) => service.getInvoice(serviceId, signal),
    createMerchant: async (merchant, idempotencyKey, limits) =>
      noted(await service.createMerchant(merchant, idempotencyKey, limits), 'created'),
    // Proves nothing: whatever answers 2xx to everything answers it to this, too.
    registerWebhook: (url, signal) => service.registerWebhook(url, signal),
    dropConnections: () => service.dropConnections(),
    close: () => service.close(),
  };
}

/** What became of an invoice that waited for the list of merchants: nothing of it was sent, and the reason comes from the answer to the list of merchants. */
function notSent({ reason }: Extract<MerchantListAnswer, { kind: 'unreadable' }>): CreateAnswer {
  return reason.code === 'service-unauthorized'
    ? { kind: 'access-denied', reason: { ...reason, code: 'http-401' }, retryAfterMs: null, mayExist: false }
    : { kind: 'not-now', reason, retryAfterMs: null };
}
