/** Hands out at most `slots` permissions at a time, first come first served. */
export interface Semaphore {
  /** Resolves to the release function, or to null when the signal was aborted first. */
  acquire(signal: AbortSignal | undefined): Promise<(() => void) | null>;
}

export function createSemaphore(slots: number): Semaphore {
  let free = slots;
  const waiting = new Set<() => void>();

  function release(): void {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }

  function permission(): () => void {
    let used = false;
    return () => {
      if (used) return;
      used = true;
      release();
    };
  }

  return {
    async acquire(signal) {
      if (signal?.aborted === true) return null;
      if (free > 0) {
        free -= 1;
        return permission();
      }
      return await new Promise((resolve) => {
        const onAbort = (): void => {
          waiting.delete(proceed);
          resolve(null);
        };
        const proceed = (): void => {
          waiting.delete(proceed);
          signal?.removeEventListener('abort', onAbort);
          resolve(permission());
        };
        waiting.add(proceed);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}
