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

/** Calls `onBehind` once, when the service's clock is at least 30 s ahead of this machine's. */
export function createServiceTime(onBehind: (aheadMs: number) => void, latest = latestClock()) {
  let mostAheadMs = 0;
  return {
    /** Records an answer whose head has this time (epoch milliseconds), or no time (null). */
    heard(at: number | null): void {
      const aheadMs = at === null ? 0 : at - latest();
      if (aheadMs >= LOGGED_FROM_MS && mostAheadMs < LOGGED_FROM_MS) onBehind(aheadMs);
      mostAheadMs = Math.max(mostAheadMs, aheadMs);
    },
    /** Returns the later of this machine's and the service's time (epoch ms), because the service's clock expires keys. */
    latestNow: () => latest() + mostAheadMs,
  };
}

/**
 * Wraps a service so that each process has read the list of merchants before it POSTs its first invoice. The list proves
 * the key: `remember` records the account, because an address that never answered cannot have an invoice of this ledger.
 * The answer also tells the service's time, because keys look younger by a clock that is behind.
 */
export function authenticatedService(service: InvoicingService, remember: () => Promise<void>): InvoicingService {
  let isProved = false;

  async function listMerchants(signal?: AbortSignal): Promise<MerchantListAnswer> {
    const answer = await service.listMerchants(signal);
    if (!isProved && answer.kind === 'list') {
      await remember();
      isProved = true;
    }
    return answer;
  }

  const firstList = sharedAnswer(() => listMerchants());

  return {
    ...service,
    listMerchants,
    async createInvoice(...post) {
      const list = isProved ? null : await firstList();
      return list?.kind === 'unreadable' ? notSent(list) : service.createInvoice(...post);
    },
  };
}

/** The answer for an invoice that was not sent because the list of merchants failed, with the reason of that failure. */
function notSent({ reason }: Extract<MerchantListAnswer, { kind: 'unreadable' }>): CreateAnswer {
  return reason.code === 'service-unauthorized'
    ? { kind: 'access-denied', reason: { ...reason, code: 'http-401' }, retryAfterMs: null, mayExist: false }
    : { kind: 'not-now', reason, retryAfterMs: null };
}
