import { setTimeout as sleep } from 'node:timers/promises';
import { isLedgerAway } from '../domain/errors.ts';

/** The most items of one write: a larger statement only holds its locks longer. */
const FULL = 500;

export interface BatcherOptions<Item, Result> {
  /** How long a write waits for further items, in milliseconds: merged writes measured 20-50 times cheaper than row by row. */
  readonly windowMs: number;
  /**
   * Returns the item's key. No write has two items with the same key: an UPDATE would silently apply only one of them.
   * By default, each item is its own key.
   */
  readonly keyOf?: (item: Item) => unknown;
  /** Writes and commits the items, and returns the results by item key. An item without a result is still written. */
  readonly write: (items: readonly Item[]) => Promise<ReadonlyMap<unknown, Result>>;
}

/** What became of a group. An item whose write failed has an error. */
interface Written<Result> {
  readonly results: Map<unknown, Result>;
  readonly errors: Map<unknown, unknown>;
}

interface Group<Item, Result> {
  readonly items: Map<unknown, Item>;
  /** Ends the wait for further items. */
  readonly endWindow: () => void;
  readonly written: Promise<Written<Result>>;
}

/**
 * Gathers the items of concurrent calls into groups, and writes one group after the other (group commit). All items of a
 * group share one promise. Writes the items of a refused group one by one, so that only the refused items fail.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  /** The newest group, until its write begins. */
  #gathering: Group<Item, Result> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /**
   * Resolves when the items are committed, with their results in their order. Rejects if an item was refused. `isLast`: the
   * caller expects no further call, so the group does not wait for one.
   */
  async submit(items: readonly Item[], isLast = false): Promise<readonly Result[]> {
    const { keyOf = (item: Item) => item } = this.#options;
    const placed = items.map((item) => ({ key: keyOf(item), written: this.#put(keyOf(item), item) }));
    if (isLast) this.#gathering?.endWindow();
    const results = placed.map(async ({ key, written }) => {
      const { results: byKey, errors } = await written;
      if (errors.has(key)) throw errors.get(key);
      return byKey.get(key);
    });
    return (await Promise.all(results)).filter((result) => result !== undefined);
  }

  /** Resolves when all items are written. */
  async idle(): Promise<void> {
    // More items may come meanwhile.
    for (let seen: unknown = null; seen !== this.#last;) await (seen = this.#last);
  }

  #put(key: unknown, item: Item): Promise<Written<Result>> {
    const newest = this.#gathering;
    const isClosed = newest === null || newest.items.has(key) || newest.items.size >= FULL;
    const { items, written } = isClosed ? this.#beginGroup() : newest;
    items.set(key, item);
    return written;
  }

  #beginGroup(): Group<Item, Result> {
    const items = new Map<unknown, Item>();
    const early = new AbortController();
    const window = sleep(this.#options.windowMs, undefined, early).catch(() => undefined);
    const written = this.#writeAfter(Promise.all([window, this.#last]), items);
    this.#gathering = { items, written, endWindow: () => early.abort() };
    this.#last = written;
    return this.#gathering;
  }

  async #writeAfter(ready: Promise<unknown>, items: Map<unknown, Item>): Promise<Written<Result>> {
    await ready;
    if (this.#gathering?.items === items) this.#gathering = null;
    const written: Written<Result> = { results: new Map(), errors: new Map() };
    await this.#write([...items], written);
    return written;
  }

  async #write(items: readonly (readonly [key: unknown, item: Item])[], written: Written<Result>): Promise<void> {
    try {
      const results = await this.#options.write(items.map(([, item]) => item));
      for (const [key, result] of results) written.results.set(key, result);
    } catch (error) {
      // While the ledger is away, no item can be written.
      if (items.length === 1 || isLedgerAway(error)) for (const [key] of items) written.errors.set(key, error);
      else for (const one of items) await this.#write([one], written);
    }
  }
}
