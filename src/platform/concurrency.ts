/** Asks one question at a time for any number of callers: a caller that asks meanwhile gets the answer to the open question. */
export function sharedAnswer<T>(ask: () => Promise<T>): () => Promise<T> {
  let open: Promise<T> | null = null;
  return () => {
    open ??= ask().finally(() => (open = null));
    return open;
  };
}

/**
 * Runs `work` for each item of an array or a generator, at most `atOnce` at a time. After the first error no further
 * work starts. The error is thrown when all started work has ended, so that the caller can safely begin again.
 */
export async function eachOf<T>(
  items: Iterable<T> | AsyncIterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const take = async (): Promise<{ readonly item: T } | null> => {
    const next = await queue.next();
    return next.done === true ? null : { item: next.value };
  };
  try {
    await eachTaken(take, atOnce, ({ item }) => work(item));
  } finally {
    await queue.return?.();
  }
}

/** Works like `eachOf` on the items that `take` returns, until `take` returns null. A lane awaits only promises. */
export async function eachTaken<T extends object>(
  take: () => T | null | Promise<T | null>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  const lane = async (): Promise<void> => {
    try {
      for (;;) {
        const taken = errors.length > 0 ? null : take();
        const item = taken instanceof Promise ? await taken : taken;
        // Another lane may have failed while `take` made this item.
        if (item === null || errors.length > 0) return;
        await work(item);
      }
    } catch (error) {
      errors.push(error);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (errors.length > 0) throw errors[0];
}

/** Gives the permit back; a second call does nothing. */
export type Release = () => void;

/** Hands out at most `permits` permissions at a time, first come first served. */
export interface Semaphore {
  /** Resolves to the release function, or to null when the signal was aborted first. An urgent caller is served before all other callers. */
  acquire(signal?: AbortSignal, isUrgent?: boolean): Promise<Release | null>;
  /** Takes a permit without waiting; returns null if none is free. */
  tryAcquire(): Release | null;
}

/** Creates a semaphore with `permits` permits. */
export function createSemaphore(permits: number): Semaphore {
  let free = permits;
  const urgent = new Set<() => void>();
  const others = new Set<() => void>();

  function release(): void {
    free += 1;
    for (const proceed of urgent.size > 0 ? urgent : others) return proceed();
  }

  /** Needs no look at the queues: a permit is free only while no caller waits. */
  function tryAcquire(): Release | null {
    if (free <= 0) return null;
    free -= 1;
    let used = false;
    return () => {
      if (used) return;
      used = true;
      release();
    };
  }

  return {
    tryAcquire,
    async acquire(signal, isUrgent = false) {
      if (signal?.aborted === true) return null;
      const now = tryAcquire();
      if (now !== null) return now;
      const waiting = isUrgent ? urgent : others;
      return await new Promise((resolve) => {
        const end = (permit: Release | null): void => {
          waiting.delete(proceed);
          signal?.removeEventListener('abort', leave);
          resolve(permit);
        };
        const proceed = (): void => end(tryAcquire());
        const leave = (): void => end(null);
        waiting.add(proceed);
        signal?.addEventListener('abort', leave);
      });
    },
  };
}
