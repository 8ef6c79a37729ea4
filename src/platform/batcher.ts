/**
 * By default, concurrent small writes wait this long for each other: measured 20-50 times cheaper than row by row, and
 * less than a POST takes.
 */
const WINDOW_MS = 4;

/** A group of so many items is written at once, and no statement has more: a larger one only holds its locks longer. */
const FULL = 500;

/** A call that waits beyond the window waits for so many items together; more company saves little more. */
const COMPANY = 16;

/** One writes while the next gathers; more only wait for each other's locks. */
const WRITERS = 2;

export type ItemKey = string | number;

export interface BatcherOptions<Item, Result> {
  /** Two items of one key never stand in one statement: an UPDATE would take either, and say nothing. */
  keyOf(item: Item): ItemKey;
  /** Writes and commits; what it found by the item's key. An item without a result is written all the same. */
  write(items: readonly Item[]): Promise<ReadonlyMap<ItemKey, Result>>;
  /** Whether an error of a write concerns every call; after another one each call is written alone. Left out: none does. */
  isOutage?(error: unknown): boolean;
  /** How long a write waits for company. */
  readonly windowMs?: number;
  /** Writes at the same time. */
  readonly writers?: number;
}

/** For whom a call waits before it is written. */
export interface Company {
  /** While every call of a group has so much left and few items have come, the group waits longer than its window; left out: 0. */
  readonly patienceMs?: number;
  /** No other call is to be expected: the group waits for nothing. */
  readonly isLast?: boolean;
}

interface Call<Item, Result> {
  readonly items: readonly Item[];
  /** By `performance.now()`. */
  readonly patientUntil: number;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a batcher. A call that fails is never acknowledged, and the other calls of its write are written without it. */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  return new Batcher(options);
}

/** Merges calls in flight into set statements. */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #inFlight = new Set<ItemKey>();
  /** Calls that are not answered yet. */
  readonly #open = new Set<Promise<unknown>>();
  #waiting: Call<Item, Result>[] = [];
  #waitingItems = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Null: no window is over, or one of the calls that wait has no patience. */
  #lingersUntil: number | null = null;
  #writers = 0;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** Resolves when the items are committed, with the results of these items, in their order. */
  submit(items: readonly Item[], { patienceMs = 0, isLast = false }: Company = {}): Promise<readonly Result[]> {
    const patientUntil = performance.now() + patienceMs;
    const written = items.length === 1 ? this.#enqueue(items, patientUntil) : this.#submitParts(items, patientUntil);
    if (isLast) this.#flush();
    return written;
  }

  /** Resolves when nothing waits to be written any more. */
  async idle(): Promise<void> {
    // Calls may come while the last ones are written.
    // oxlint-disable-next-line no-await-in-loop
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  async #submitParts(items: readonly Item[], patientUntil: number): Promise<readonly Result[]> {
    // Handed in together: a later call of the same key must not come between two parts.
    const parts = await Promise.allSettled(
      withoutRepeats(items, this.#options.keyOf).map((part) => this.#enqueue(part, patientUntil)),
    );
    return parts.flatMap((part) => {
      if (part.status === 'rejected') throw part.reason;
      return part.value;
    });
  }

  #enqueue(items: readonly Item[], patientUntil: number): Promise<readonly Result[]> {
    const written = new Promise<readonly Result[]>((resolve, reject) => {
      this.#waiting.push({ items, patientUntil, resolve, reject });
      this.#waitingItems += items.length;
      const isShort = this.#lingersUntil !== null && patientUntil < this.#lingersUntil;
      if (this.#waitingItems >= (this.#lingersUntil === null ? FULL : COMPANY)) this.#flush();
      else if (isShort) this.#windowAfresh();
      else this.#timer ??= setTimeout(() => this.#windowOver(), this.#windowMs);
    });
    this.#open.add(written);
    const end = (): void => void this.#open.delete(written);
    written.then(end, end);
    return written;
  }

  get #windowMs(): number {
    return this.#options.windowMs ?? WINDOW_MS;
  }

  /** A call came that has less patience than those that linger. */
  #windowAfresh(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#lingersUntil = null;
    this.#timer = setTimeout(() => this.#windowOver(), this.#windowMs);
  }

  #windowOver(): void {
    const until = Math.min(...this.#waiting.map(({ patientUntil }) => patientUntil));
    const left = until - performance.now();
    if (left <= 0 || this.#waitingItems >= COMPANY) return this.#flush();
    this.#lingersUntil = until;
    this.#timer = setTimeout(() => this.#flush(), left);
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#lingersUntil = null;
    if (this.#writers >= (this.#options.writers ?? WRITERS) || this.#waiting.length === 0) return;
    const calls = this.#takeGroup();
    if (calls.length === 0) return;
    const keys = calls.flatMap((call) => this.#keysOf(call));
    for (const key of keys) this.#inFlight.add(key);
    this.#writers += 1;
    void this.#write(calls).finally(() => {
      this.#writers -= 1;
      for (const key of keys) this.#inFlight.delete(key);
      this.#flush();
    });
  }

  /** As many waiting calls, oldest first, as share no key with each other or with what is being written, and fill one statement. */
  #takeGroup(): readonly Call<Item, Result>[] {
    const taken: Call<Item, Result>[] = [];
    const left: Call<Item, Result>[] = [];
    const keys = new Set(this.#inFlight);
    let items = 0;
    for (const call of this.#waiting) {
      const callKeys = this.#keysOf(call);
      const fits = items === 0 || items + callKeys.length <= FULL;
      // A call that was passed over blocks its keys too: later calls of the same invoice must not overtake it.
      const free = fits && callKeys.every((key) => !keys.has(key));
      for (const key of callKeys) keys.add(key);
      if (free) items += callKeys.length;
      (free ? taken : left).push(call);
    }
    this.#waiting = left;
    this.#waitingItems = left.reduce((sum, call) => sum + call.items.length, 0);
    return taken;
  }

  async #write(calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.write(calls.flatMap((call) => call.items));
      for (const call of calls) call.resolve(this.#resultsOf(call, results));
    } catch (error) {
      if (calls.length === 1 || this.#options.isOutage?.(error) === true) for (const call of calls) call.reject(error);
      else for (const call of calls) await this.#write([call]);
    }
  }

  #resultsOf(call: Call<Item, Result>, results: ReadonlyMap<ItemKey, Result>): readonly Result[] {
    return this.#keysOf(call)
      .map((key) => results.get(key))
      .filter((result) => result !== undefined);
  }

  #keysOf({ items }: Call<Item, Result>): readonly ItemKey[] {
    return items.map((item) => this.#options.keyOf(item));
  }
}

/** The items in as few parts as hold no key twice, the first of a key in the first part. */
function withoutRepeats<Item>(items: readonly Item[], keyOf: (item: Item) => ItemKey): readonly (readonly Item[])[] {
  const seen = new Map<ItemKey, number>();
  const parts: Item[][] = [];
  for (const item of items) {
    const part = seen.get(keyOf(item)) ?? 0;
    seen.set(keyOf(item), part + 1);
    (parts[part] ??= []).push(item);
  }
  return parts;
}
