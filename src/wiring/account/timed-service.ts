import type {
  CreateAnswer,
  InvoicingService,
  MerchantListAnswer,
  PostLimits,
} from '../../domain/ports/invoicing-service.ts';
import type { ServiceClock } from '../../domain/time/service-clock.ts';
import { notSent } from './authenticated-service.ts';

/**
 * The same service, which must have answered before a key is repeated that an earlier process used first: this machine's clock may be behind, and an answer
 * names the time. If none has come yet, the list of merchants is asked for. Any answer will do, also a refusal, and one that names no time: the key is then
 * judged by this machine's clock. Without an answer the invoice is not sent. First POSTs ask nothing. A POST that
 * is given up meanwhile waits no longer.
 */
export function timedService(
  service: InvoicingService,
  clock: Pick<ServiceClock, 'mustHear' | 'answered'>,
): InvoicingService {
  let open: Promise<MerchantListAnswer | void> | null = null;

  /** One question for all who ask meanwhile. Of a long list the first answer is enough. */
  async function ask(): Promise<MerchantListAnswer | void> {
    const enough = new AbortController();
    try {
      return await Promise.race([service.listMerchants(enough.signal), clock.answered]);
    } finally {
      enough.abort();
      open = null;
    }
  }

  async function repeat(since: number, ...post: Parameters<InvoicingService['createInvoice']>): Promise<CreateAnswer> {
    open ??= ask();
    const list = await whilePermitted(open, post[2]);
    if (list?.kind === 'unreadable' && clock.mustHear(since)) return notSent(list);
    return service.createInvoice(...post);
  }

  return {
    ...service,
    createInvoice(body: string, idempotencyKey: string, limits?: PostLimits) {
      const since = limits?.firstUsedAt ?? null;
      return since !== null && clock.mustHear(since)
        ? repeat(since, body, idempotencyKey, limits)
        : service.createInvoice(body, idempotencyKey, limits);
    },
  };
}

/** The answer, or nothing as soon as the POST is given up: the service then says so itself, without sending it. */
async function whilePermitted<T>(answer: Promise<T>, { signal, permit }: PostLimits = {}): Promise<T | void> {
  const ends = [signal, permit?.withdrawn].filter((end) => end !== undefined);
  if (ends.some(({ aborted }) => aborted)) return;
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<void>((resolve) => (giveUp = resolve));
  for (const end of ends) end.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([answer, givenUp]);
  } finally {
    for (const end of ends) end.removeEventListener('abort', giveUp);
  }
}
