/** Gives a permit back; a second call does nothing. */
export type Release = () => void;

/** Hands out at most `permits` permissions at a time, first come first served. */
export interface Semaphore {
  /** Resolves to the release function, or to null when the signal was aborted first. */
  acquire(signal?: AbortSignal): Promise<Release | null>;
  /** A permit that is free at this moment, without a promise; null: none is. */
  tryAcquire(): Release | null;
  /** Whether no permit is in use, and nobody waits for one. */
  isIdle(): boolean;
  /** How many permits may be in use until it is resized: all of them, or more where some in use are to come back after a smaller size. */
  inUseAtMost(): number;
  /** Changes the number of permits: more are free at once, fewer as soon as those in use come back. */
  resize(permits: number): void;
}

/** Makes a semaphore with so many permits. */
export function createSemaphore(permits: number): Semaphore {
  let size = permits;
  let free = permits;
  const waiting = new Set<() => void>();

  function release(): void {
    free += 1;
    handOut();
  }

  /** `free` is below zero while more permits are in use than there are. */
  function handOut(): void {
    for (const proceed of waiting) {
      if (free <= 0) return;
      free -= 1;
      proceed();
    }
  }

  function permit(): Release {
    let used = false;
    return () => {
      if (used) return;
      used = true;
      release();
    };
  }

  /** Who waits has been served by now: a permit is free only where nobody does. */
  function tryAcquire(): Release | null {
    if (free <= 0) return null;
    free -= 1;
    return permit();
  }

  return {
    isIdle: () => free === size && waiting.size === 0,
    inUseAtMost: () => size - Math.min(free, 0),
    resize(next) {
      free += next - size;
      size = next;
      handOut();
    },
    tryAcquire,
    async acquire(signal) {
      if (signal?.aborted === true) return null;
      const now = tryAcquire();
      if (now !== null) return now;
      return await new Promise((resolve) => {
        const onAbort = (): void => {
          waiting.delete(proceed);
          resolve(null);
        };
        const proceed = (): void => {
          waiting.delete(proceed);
          signal?.removeEventListener('abort', onAbort);
          resolve(permit());
        };
        waiting.add(proceed);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}
