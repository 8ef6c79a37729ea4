import type { SettledInvoice } from '../domain/ports/ledger.ts';

/** Each signal costs the Temporal server a history event; 250 ms of news in one costs no more (measured, DESIGN section 2). */
const COALESCE_MS = 250;

/** News beyond this is dropped while Temporal is away: pages read the ledger again by themselves. */
const MAX_PENDING = 200_000;

/** Pages told at the same time. */
const MAX_SENDING = 8;

export interface SignalRelayOptions {
  readonly pageWorkflowIdOf: (settled: SettledInvoice) => string;
  readonly send: (pageWorkflowId: string, ordinals: readonly number[]) => Promise<void>;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly coalesceMs?: number;
  readonly maxPending?: number;
}

export interface SignalRelay {
  add(settled: readonly SettledInvoice[]): void;
  /** Sends what is pending now and resolves when it is sent, or given up. Call it before leaving. */
  flush(): Promise<void>;
}

/** Tells each page, in one signal per 250 ms, which of its invoices came to rest. A lost signal costs a delay and nothing else. */
export function createSignalRelay(options: SignalRelayOptions): SignalRelay {
  const maxPending = options.maxPending ?? MAX_PENDING;
  let pending = new Map<string, Set<number>>();
  let count = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let sending: Promise<void> = Promise.resolve();

  function put(settled: SettledInvoice): boolean {
    if (count >= maxPending) return false;
    const pageId = options.pageWorkflowIdOf(settled);
    const ordinals = pending.get(pageId) ?? new Set<number>();
    if (!ordinals.has(settled.ordinal)) count += 1;
    pending.set(pageId, ordinals.add(settled.ordinal));
    return true;
  }

  async function sendPending(): Promise<void> {
    const pages = Array.from(pending);
    pending = new Map();
    count = 0;
    const queue = pages.values();
    await Promise.all(Array.from({ length: Math.min(MAX_SENDING, pages.length) }, async () => await sendFrom(queue)));
  }

  /** Several of these share one iterator, so each page is taken once. */
  async function sendFrom(queue: Iterable<[string, Set<number>]>): Promise<void> {
    for (const [pageId, ordinals] of queue) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        await options.send(pageId, Array.from(ordinals));
      } catch (error) {
        options.log.warn('A page could not be told; it reads the ledger by itself', {
          page: pageId,
          error: error instanceof Error ? error.name : 'unknown',
        });
      }
    }
  }

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    // One round at a time: while Temporal is slow, news gathers into fewer signals.
    sending = sending.then(sendPending);
    await sending;
  }

  return {
    add(settled) {
      const dropped = settled.filter((one) => !put(one)).length;
      if (dropped > 0)
        options.log.warn('Too much news waits for Temporal; pages read the ledger by themselves', { dropped });
      timer ??= setTimeout(() => void flush(), options.coalesceMs ?? COALESCE_MS);
    },
    flush,
  };
}
