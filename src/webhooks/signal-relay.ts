import type { SettledInvoice } from '../domain/ports/ledger/settling-ledger.ts';

/** Pages are checked this often; a page is notified when its burst of settled invoices is over. */
const COALESCE_MS = 250;

/**
 * Rounds without news after which a burst is over. A page whose service is fast looks for its last word by itself; a
 * signal at the same moment would only make it look again.
 */
const QUIET_ROUNDS = 3;

/**
 * Between two signals to a page passes half as long as between its first one and the last, and within a burst it gets
 * none: it can do nothing before its last invoice is settled, and a signal with its workflow task is four history
 * events (measured: 0.10 events an invoice with a signal every 250 ms). By then it also reads the ledger by itself.
 */
const REST_SHARE = 1 / 2;

/** A page without news for so long begins anew. */
const FORGOTTEN_MS = 15 * 60_000;

/** Settled invoices beyond this are dropped while Temporal is away: pages read the ledger again by themselves. */
const MAX_PENDING = 200_000;

/** Pages notified at the same time. */
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

interface PageSettlements {
  readonly ordinals: Set<number>;
  /** Rounds since something came. */
  quietRounds: number;
}

/** Of one page, in epoch milliseconds. */
interface SignalTimes {
  readonly first: number;
  readonly last: number;
}

/** A page, and its invoices that were settled. */
type PageSignal = readonly [pageWorkflowId: string, ordinals: readonly number[]];

/**
 * Notifies each page of its settled invoices, as seldom as possible without delaying the last. A lost signal costs a
 * delay and nothing else.
 */
export function createSignalRelay(options: SignalRelayOptions): SignalRelay {
  return new CoalescingRelay(options);
}

class CoalescingRelay implements SignalRelay {
  readonly #options: SignalRelayOptions;
  readonly #pending: PendingSettlements;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: SignalRelayOptions) {
    this.#options = options;
    this.#pending = new PendingSettlements(options.pageWorkflowIdOf, options.maxPending ?? MAX_PENDING);
  }

  add(settled: readonly SettledInvoice[]): void {
    const dropped = settled.filter((one) => !this.#pending.put(one)).length;
    if (dropped > 0)
      this.#options.log.warn('Too many settled invoices wait for Temporal; pages read the ledger by themselves', {
        dropped,
      });
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

  /** Rounds run one after the other: while Temporal is slow, settled invoices gather into fewer signals. */
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
        this.#options.log.warn('A page could not be notified; it reads the ledger by itself', {
          page: pageId,
          error: error instanceof Error ? error.name : 'unknown',
        });
      }
    }
  }
}

/** Settled invoices by page, up to a limit. */
class PendingSettlements {
  readonly #pageWorkflowIdOf: SignalRelayOptions['pageWorkflowIdOf'];
  readonly #max: number;
  readonly #pages = new Map<string, PageSettlements>();
  /** Outlives the signals. */
  readonly #signalled = new Map<string, SignalTimes>();
  #count = 0;

  constructor(pageWorkflowIdOf: SignalRelayOptions['pageWorkflowIdOf'], max: number) {
    this.#pageWorkflowIdOf = pageWorkflowIdOf;
    this.#max = max;
  }

  get isEmpty(): boolean {
    return this.#pages.size === 0;
  }

  /** False: the limit is reached, and the invoice is dropped. */
  put(settled: SettledInvoice): boolean {
    if (this.#count >= this.#max) return false;
    const pageId = this.#pageWorkflowIdOf(settled);
    const waiting = this.#pages.get(pageId) ?? { ordinals: new Set(), quietRounds: 0 };
    if (!waiting.ordinals.has(settled.ordinal)) this.#count += 1;
    waiting.ordinals.add(settled.ordinal);
    waiting.quietRounds = 0;
    this.#pages.set(pageId, waiting);
    return true;
  }

  /** Takes the pages whose burst is over, and which were not notified just before. */
  takeDue(): readonly PageSignal[] {
    const now = Date.now();
    const due: PageSignal[] = [];
    for (const [pageId, waiting] of this.#pages) {
      const times = this.#signalled.get(pageId);
      if (waiting.quietRounds >= QUIET_ROUNDS && isRested(times, now)) {
        due.push(this.#take(pageId, waiting));
        this.#signalled.set(pageId, { first: times?.first ?? now, last: now });
      } else waiting.quietRounds += 1;
    }
    for (const [pageId, { last }] of this.#signalled)
      if (now - last >= FORGOTTEN_MS && !this.#pages.has(pageId)) this.#signalled.delete(pageId);
    return due;
  }

  takeAll(): readonly PageSignal[] {
    return Array.from(this.#pages, ([pageId, waiting]) => this.#take(pageId, waiting));
  }

  #take(pageId: string, { ordinals }: PageSettlements): PageSignal {
    this.#pages.delete(pageId);
    this.#count -= ordinals.size;
    return [pageId, Array.from(ordinals)];
  }
}

/** A clock that went back keeps no page waiting. */
function isRested(times: SignalTimes | undefined, now: number): boolean {
  if (times === undefined || now < times.last) return true;
  return now - times.last >= (times.last - times.first) * REST_SHARE;
}
