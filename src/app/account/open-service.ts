import { latestClock } from '../../domain/time/steady-clock.ts';
import type { CreateAnswer, MerchantListAnswer } from '../../domain/records/service-answers.ts';
import { sharedAnswer } from '../../platform/concurrency.ts';
import { createInvoicingService, type InvoicingService } from '../../service/client.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { Config } from '../config/config.ts';

/** Address and API key of an invoicing service. */
export interface ServiceAccount {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Opens the service for this process alone. */
export function openService(config: Config, account: ServiceAccount, profile: ServiceProfile): InvoicingService {
  return createInvoicingService({ ...account, profile, application: config.application });
}

/** Clocks set by NTP differ by less than a second, so Lote logs a difference from 30 s. */
const LOGGED_FROM_MS = 30_000;

/** The clock by which Lote judges the age of a key. */
export type ServiceTime = ReturnType<typeof createServiceTime>;

/** Calls `onBehind` once, when the service's clock is at least 30 s ahead of this machine's. */
export function createServiceTime(onBehind: (aheadMs: number) => void, latest = latestClock()) {
  let isHeard = false;
  let isLogged = false;
  let named: { readonly at: number; readonly elapsed: number } | null = null;

  /** Returns the later of this machine's and the service's time (epoch ms), because the service's clock expires keys. */
  const latestNow = (): number =>
    Math.max(latest(), named === null ? 0 : Math.floor(named.at + performance.now() - named.elapsed));

  return {
    /** Records an answer whose head has this time (epoch milliseconds), or no time (null). */
    heard(at: number | null): void {
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
  /** Null means the built-in sandbox. */
  readonly time: Pick<ServiceTime, 'isHeard'> | null;
  /** Returns true if the ledger knows the account, because the service has answered with this key before. */
  readonly isKnown: () => Promise<boolean>;
  /** Records the account. @throws LoteError `interlock` when the ledger has another account now */
  readonly remember: () => Promise<void>;
}

/**
 * Wraps a service. The first answer that proves the key records the account before the caller gets that answer, and no
 * invoice is POSTed earlier: an address that never answered cannot have an invoice of this ledger. A key is repeated
 * only after an answer with the service's time, because keys look younger by a clock that is behind.
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

  /** Returns the answer that replaces a first POST, or null if the POST may leave. */
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
    // This answer does not prove the key: a server that answers every request with 2xx gives it, too.
    registerWebhook: (url, signal) => service.registerWebhook(url, signal),
    dropConnections: () => service.dropConnections(),
    close: () => service.close(),
  };
}

/** The answer for an invoice that was not sent because the list of merchants failed, with the reason of that failure. */
function notSent({ reason }: Extract<MerchantListAnswer, { kind: 'unreadable' }>): CreateAnswer {
  return reason.code === 'service-unauthorized'
    ? { kind: 'access-denied', reason: { ...reason, code: 'http-401' }, retryAfterMs: null, mayExist: false }
    : { kind: 'not-now', reason, retryAfterMs: null };
}
