import type { SettledInvoice } from '../domain/ports/ledger.ts';

/** Pages are looked at this often; one whose news has come to an end is told then. */
const COALESCE_MS = 250;

/**
 * A page that news still comes for is told every eighth time, 2 s: a signal and the workflow task it wakes are four history events, and the page can do
 * nothing with it before its last invoice is at rest (measured: 0.10 events an invoice with a signal every 250 ms, 0.02 so).
 */
const MOST_ROUNDS = 8;

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

interface PageNews {
  readonly ordinals: Set<number>;
  /** Nothing came since the last round: the burst is over. */
  quiet: boolean;
  rounds: number;
}

/** Tells each page which of its invoices came to rest, as seldom as it can without delaying the last. A lost signal costs a delay and nothing else. */
export function createSignalRelay(options: SignalRelayOptions): SignalRelay {
  const maxPending = options.maxPending ?? MAX_PENDING;
  const pending = new Map<string, PageNews>();
  let count = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let sending: Promise<void> = Promise.resolve();

  function put(settled: SettledInvoice): boolean {
    if (count >= maxPending) return false;
    const pageId = options.pageWorkflowIdOf(settled);
    const news = pending.get(pageId) ?? { ordinals: new Set(), quiet: false, rounds: 0 };
    if (!news.ordinals.has(settled.ordinal)) count += 1;
    news.ordinals.add(settled.ordinal);
    news.quiet = false;
    pending.set(pageId, news);
    return true;
  }

  /** Takes the pages whose burst is over, or that have waited long enough. */
  function takeDue(): readonly (readonly [string, readonly number[]])[] {
    const due: [string, readonly number[]][] = [];
    for (const [pageId, news] of pending) {
      news.rounds += 1;
      if (news.quiet || news.rounds >= MOST_ROUNDS) due.push(take(pageId, news));
      else news.quiet = true;
    }
    return due;
  }

  function take(pageId: string, { ordinals }: PageNews): [string, readonly number[]] {
    pending.delete(pageId);
    count -= ordinals.size;
    return [pageId, Array.from(ordinals)];
  }

  async function send(pages: readonly (readonly [string, readonly number[]])[]): Promise<void> {
    const queue = pages.values();
    await Promise.all(Array.from({ length: Math.min(MAX_SENDING, pages.length) }, async () => await sendFrom(queue)));
  }

  /** Several of these share one iterator, so each page is taken once. */
  async function sendFrom(queue: Iterable<readonly [string, readonly number[]]>): Promise<void> {
    for (const [pageId, ordinals] of queue) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        await options.send(pageId, ordinals);
      } catch (error) {
        options.log.warn('A page could not be told; it reads the ledger by itself', {
          page: pageId,
          error: error instanceof Error ? error.name : 'unknown',
        });
      }
    }
  }

  /** One round at a time: while Temporal is slow, news gathers into fewer signals. */
  function round(): void {
    timer = null;
    sending = sending.then(() => send(takeDue())).finally(look);
  }

  function look(): void {
    if (pending.size > 0) timer ??= setTimeout(round, options.coalesceMs ?? COALESCE_MS);
  }

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    sending = sending.then(() => send(Array.from(pending, ([pageId, news]) => take(pageId, news))));
    await sending;
  }

  return {
    add(settled) {
      const dropped = settled.filter((one) => !put(one)).length;
      if (dropped > 0)
        options.log.warn('Too much news waits for Temporal; pages read the ledger by themselves', { dropped });
      look();
    },
    flush,
  };
}
