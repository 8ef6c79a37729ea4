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

/** A page, and the invoices of it that came to rest. */
type PageSignal = readonly [pageWorkflowId: string, ordinals: readonly number[]];

/** Tells each page which of its invoices came to rest, as seldom as it can without delaying the last. A lost signal costs a delay and nothing else. */
export function createSignalRelay(options: SignalRelayOptions): SignalRelay {
  return new CoalescingRelay(options);
}

class CoalescingRelay implements SignalRelay {
  readonly #options: SignalRelayOptions;
  readonly #pending: PendingNews;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: SignalRelayOptions) {
    this.#options = options;
    this.#pending = new PendingNews(options.pageWorkflowIdOf, options.maxPending ?? MAX_PENDING);
  }

  add(settled: readonly SettledInvoice[]): void {
    const dropped = settled.filter((one) => !this.#pending.put(one)).length;
    if (dropped > 0)
      this.#options.log.warn('Too much news waits for Temporal; pages read the ledger by themselves', { dropped });
    this.#schedule();
  }

  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sending = this.#sending.then(() => this.#send(this.#pending.takeAll()));
    await this.#sending;
  }

  #schedule(): void {
    if (this.#pending.isEmpty) return;
    this.#timer ??= setTimeout(() => this.#round(), this.#options.coalesceMs ?? COALESCE_MS);
  }

  /** One round at a time: while Temporal is slow, news gathers into fewer signals. */
  #round(): void {
    this.#timer = null;
    this.#sending = this.#sending.then(() => this.#send(this.#pending.takeDue())).finally(() => this.#schedule());
  }

  async #send(signals: readonly PageSignal[]): Promise<void> {
    const queue = signals.values();
    const senders = Math.min(MAX_SENDING, signals.length);
    await Promise.all(Array.from({ length: senders }, async () => await this.#sendFrom(queue)));
  }

  /** Several of these share one iterator, so each page is taken once. */
  async #sendFrom(queue: Iterable<PageSignal>): Promise<void> {
    for (const [pageId, ordinals] of queue) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        await this.#options.send(pageId, ordinals);
      } catch (error) {
        this.#options.log.warn('A page could not be told; it reads the ledger by itself', {
          page: pageId,
          error: error instanceof Error ? error.name : 'unknown',
        });
      }
    }
  }
}

/** News by page, up to a limit of invoices. */
class PendingNews {
  readonly #pageWorkflowIdOf: SignalRelayOptions['pageWorkflowIdOf'];
  readonly #max: number;
  readonly #pages = new Map<string, PageNews>();
  #count = 0;

  constructor(pageWorkflowIdOf: SignalRelayOptions['pageWorkflowIdOf'], max: number) {
    this.#pageWorkflowIdOf = pageWorkflowIdOf;
    this.#max = max;
  }

  get isEmpty(): boolean {
    return this.#pages.size === 0;
  }

  /** False: the limit is reached, and the news is dropped. */
  put(settled: SettledInvoice): boolean {
    if (this.#count >= this.#max) return false;
    const pageId = this.#pageWorkflowIdOf(settled);
    const news = this.#pages.get(pageId) ?? { ordinals: new Set(), quiet: false, rounds: 0 };
    if (!news.ordinals.has(settled.ordinal)) this.#count += 1;
    news.ordinals.add(settled.ordinal);
    news.quiet = false;
    this.#pages.set(pageId, news);
    return true;
  }

  /** Takes the pages whose burst is over, or that have waited long enough. */
  takeDue(): readonly PageSignal[] {
    const due: PageSignal[] = [];
    for (const [pageId, news] of this.#pages) {
      news.rounds += 1;
      if (news.quiet || news.rounds >= MOST_ROUNDS) due.push(this.#take(pageId, news));
      else news.quiet = true;
    }
    return due;
  }

  takeAll(): readonly PageSignal[] {
    return Array.from(this.#pages, ([pageId, news]) => this.#take(pageId, news));
  }

  #take(pageId: string, { ordinals }: PageNews): PageSignal {
    this.#pages.delete(pageId);
    this.#count -= ordinals.size;
    return [pageId, Array.from(ordinals)];
  }
}
