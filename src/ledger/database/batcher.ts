import { LoteError } from '../../domain/errors.ts';

/** Concurrent small writes wait this long for company unless told: measured 20-50 times cheaper than row by row, and less than a POST takes. */
const WINDOW_MS = 4;

/** A group that is large enough gains nothing by waiting. */
const FULL = 500;

/** One writes while the next gathers; more only wait for each other's locks. */
const WRITERS = 2;

export type ItemKey = string | number;

export interface GroupCommitOptions<Item, Result> {
  /** Two items of one key never stand in one statement: an UPDATE would take either, and say nothing. */
  keyOf(item: Item): ItemKey;
  /** Writes and commits; what it found by the item's key. An item without a result is written all the same. */
  write(items: readonly Item[]): Promise<ReadonlyMap<ItemKey, Result>>;
  /** How long a write waits for company. */
  readonly windowMs?: number;
}

/** Resolves when the items are committed, with the results of these items, in their order. */
export type Submit<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

interface Call<Item, Result> {
  readonly items: readonly Item[];
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Merges calls in flight into set statements; a call that fails does not drag others down, nor is it ever acknowledged. */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): Submit<Item, Result> {
  let waiting: Call<Item, Result>[] = [];
  let waitingItems = 0;
  let timer: NodeJS.Timeout | null = null;
  let writers = 0;
  const inFlight = new Set<ItemKey>();

  return async (items) => {
    // Handed in together: a later call of the same key must not come between two parts.
    const parts = await Promise.allSettled(withoutRepeats(items, options.keyOf).map(enqueue));
    return parts.flatMap((part) => {
      if (part.status === 'rejected') throw part.reason;
      return part.value;
    });
  };

  function enqueue(items: readonly Item[]): Promise<readonly Result[]> {
    return new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject });
      waitingItems += items.length;
      if (waitingItems >= FULL) flush();
      else timer ??= setTimeout(flush, options.windowMs ?? WINDOW_MS);
    });
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (writers >= WRITERS || waiting.length === 0) return;
    const calls = takeGroup();
    if (calls.length === 0) return;
    const keys = calls.flatMap((call) => call.items.map((item) => options.keyOf(item)));
    for (const key of keys) inFlight.add(key);
    writers += 1;
    void writeGroup(calls).finally(() => {
      writers -= 1;
      for (const key of keys) inFlight.delete(key);
      flush();
    });
  }

  /** As many waiting calls, oldest first, as share no key with each other or with what is being written. */
  function takeGroup(): readonly Call<Item, Result>[] {
    const taken: Call<Item, Result>[] = [];
    const left: Call<Item, Result>[] = [];
    const keys = new Set(inFlight);
    for (const call of waiting) {
      const callKeys = call.items.map((item) => options.keyOf(item));
      // A call that was passed over blocks its keys too: later calls of the same invoice must not overtake it.
      const free = callKeys.every((key) => !keys.has(key));
      for (const key of callKeys) keys.add(key);
      (free ? taken : left).push(call);
    }
    waiting = left;
    waitingItems = left.reduce((sum, call) => sum + call.items.length, 0);
    return taken;
  }

  async function writeGroup(calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await options.write(calls.flatMap((call) => call.items));
      for (const call of calls) call.resolve(resultsOf(call, results));
    } catch (error) {
      if (calls.length === 1 || isUnavailable(error)) for (const call of calls) call.reject(error);
      else for (const call of calls) await writeGroup([call]);
    }
  }

  function resultsOf(call: Call<Item, Result>, results: ReadonlyMap<ItemKey, Result>): readonly Result[] {
    return call.items.map((item) => results.get(options.keyOf(item))).filter((result) => result !== undefined);
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

function isUnavailable(error: unknown): boolean {
  return error instanceof LoteError && error.code === 'ledger-unavailable';
}
