/** A caller that asks while a question is open gets the answer to it: one question at a time, for any number of callers. */
export function sharedAnswer<T>(ask: () => Promise<T>): () => Promise<T> {
  let open: Promise<T> | null = null;
  return () => {
    open ??= ask().finally(() => (open = null));
    return open;
  };
}

/**
 * Runs `work` for each item of an array or a generator, at most `atOnce` at a time. The first error stops the start of further work, and is thrown
 * when all begun work has ended: what is on its way comes to its own end before the caller begins anew.
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

/** The same for what `take` gives until it gives null. Between two items a lane awaits nothing that is no promise. */
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
        // Another lane may have failed while this item was made.
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

/** Gives a permit back; a second call does nothing. */
export type Release = () => void;

/** Hands out at most `permits` permissions at a time, first come first served. */
export interface Semaphore {
  /**
   * Resolves to the release function, or to null when the signal was aborted first. An urgent caller is served before
   * all others.
   */
  acquire(signal?: AbortSignal, isUrgent?: boolean): Promise<Release | null>;
  /** A permit that is free at this moment, without a promise; null: none is. */
  tryAcquire(): Release | null;
}

/** Makes a semaphore with so many permits. */
export function createSemaphore(permits: number): Semaphore {
  let free = permits;
  const urgent = new Set<() => void>();
  const others = new Set<() => void>();

  function release(): void {
    free += 1;
    for (const proceed of urgent.size > 0 ? urgent : others) return proceed();
  }

  /** A permit is free only where no caller waits. */
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

  /** The waiting callers of each signal. One listener for all of them: the signal searches its list at each change. */
  const waitingWith = new Map<AbortSignal, Set<() => void>>();
  function endAll(event: Event): void {
    for (const leave of waitingWith.get(event.target as AbortSignal) ?? []) leave();
  }

  /** Calls `leave` when the signal is aborted; returns a function that ends this. */
  function onAbort(signal: AbortSignal, leave: () => void): () => void {
    const leavers = waitingWith.get(signal) ?? new Set<() => void>();
    if (leavers.size === 0) {
      waitingWith.set(signal, leavers);
      signal.addEventListener('abort', endAll);
    }
    leavers.add(leave);
    return () => {
      leavers.delete(leave);
      if (leavers.size > 0) return;
      waitingWith.delete(signal);
      signal.removeEventListener('abort', endAll);
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
          forget?.();
          resolve(permit);
        };
        const proceed = (): void => end(tryAcquire());
        waiting.add(proceed);
        const forget = signal === undefined ? undefined : onAbort(signal, () => end(null));
      });
    },
  };
}
