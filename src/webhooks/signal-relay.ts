import { eachOf } from '../platform/concurrency.ts';
import type { SettledInvoice } from '../ledger/settling/settling.ts';

/** How often the relay looks for pages to signal, in milliseconds. */
const ROUND_MS = 100;

/**
 * The relay signals a page when no settled invoice has come for it for this time. The page can do nothing before its
 * last invoice is settled, and a signal with its workflow task costs four history events.
 */
const QUIET_MS = 500;

/** The pause before a page's next signal, as a share of the time from its first signal to its last: signals become ever rarer. */
const REST_SHARE = 1 / 2;

/** The relay forgets a page without news for this time; a later signal then counts as the first. */
const FORGOTTEN_MS = 15 * 60_000;

/** While Temporal is unreachable, the relay drops settled invoices above this number, because pages read the ledger again by themselves. */
const MAX_PENDING = 200_000;

/** The most pages that the relay signals at the same time. */
const MAX_SENDING = 8;

export interface SignalRelayOptions {
  readonly pageWorkflowIdOf: (settled: SettledInvoice) => string;
  readonly send: (pageWorkflowId: string, ordinals: readonly number[]) => Promise<void>;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly maxPending?: number;
}

/** Times are milliseconds of the monotonic clock. */
interface Page {
  readonly id: string;
  ordinals: Set<number>;
  newsAt: number;
  firstSignalAt: number | null;
  /** No signal leaves before this time. */
  restUntil: number;
}

/**
 * Signals each page about its settled invoices, as rarely as possible without delaying the last one. A lost signal
 * costs only a delay.
 */
export function createSignalRelay(options: SignalRelayOptions) {
  const { pageWorkflowIdOf, log, maxPending = MAX_PENDING } = options;
  const pages = new Map<string, Page>();
  let pending = 0;
  let timer: NodeJS.Timeout | null = null;
  let sending = Promise.resolve();

  function put(settled: SettledInvoice): void {
    const id = pageWorkflowIdOf(settled);
    const now = performance.now();
    const page = pages.get(id) ?? { id, ordinals: new Set(), newsAt: now, firstSignalAt: null, restUntil: now };
    if (!page.ordinals.has(settled.ordinal)) pending += 1;
    page.ordinals.add(settled.ordinal);
    page.newsAt = now;
    pages.set(id, page);
  }

  /** Rounds run one after the other, so that a slow Temporal gets fewer signals with more invoices each. */
  function round(isWanted: (page: Page, now: number) => boolean): Promise<void> {
    sending = sending.then(async () => {
      const now = performance.now();
      for (const [id, { newsAt, ordinals }] of pages)
        if (ordinals.size === 0 && now - newsAt >= FORGOTTEN_MS) pages.delete(id);
      const wanted = [...pages.values()].filter((page) => page.ordinals.size > 0 && isWanted(page, now));
      await eachOf(wanted, MAX_SENDING, signal);
    });
    return sending;
  }

  async function signal(page: Page): Promise<void> {
    const ordinals = [...page.ordinals];
    page.ordinals = new Set();
    pending -= ordinals.length;
    const now = performance.now();
    page.firstSignalAt ??= now;
    page.restUntil = now + (now - page.firstSignalAt) * REST_SHARE;
    await notifyPage(options, page.id, ordinals);
  }

  function schedule(): void {
    if (pending === 0) return;
    timer ??= setTimeout(() => {
      timer = null;
      void round(isDue).finally(schedule);
    }, ROUND_MS);
  }

  return {
    add(settled: readonly SettledInvoice[]): void {
      let dropped = 0;
      for (const one of settled)
        if (pending < maxPending) put(one);
        else dropped += 1;
      if (dropped > 0)
        log.warn('Too many settled invoices wait for Temporal; pages read the ledger by themselves', { dropped });
      schedule();
    },
    /** Sends the pending signals and resolves when they are sent or have failed. Call it before the process ends. */
    flush(): Promise<void> {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      return round(() => true);
    },
  };
}

function isDue({ newsAt, restUntil }: Page, now: number): boolean {
  return now - newsAt >= QUIET_MS && now >= restUntil;
}

async function notifyPage({ send, log }: SignalRelayOptions, page: string, ordinals: readonly number[]): Promise<void> {
  try {
    await send(page, ordinals);
  } catch (error) {
    log.warn('A page could not be notified; it reads the ledger by itself', {
      page,
      error: error instanceof Error ? error.name : 'unknown',
    });
  }
}
