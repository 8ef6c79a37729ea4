/** Gives back what was taken; a second call does nothing. */
export type Release = () => void;

/** Hands out at most `slots` permissions at a time, first come first served. */
export interface Semaphore {
  /** Resolves to the release function, or to null when the signal was aborted first. */
  acquire(signal?: AbortSignal): Promise<Release | null>;
  /** More slots at once; fewer as soon as those in use come back. */
  resize(slots: number): void;
}

/** A semaphore that waits in the order of asking. */
export function createSemaphore(slots: number): Semaphore {
  let size = slots;
  let free = slots;
  const waiting = new Set<() => void>();

  function release(): void {
    free += 1;
    handOut();
  }

  /** Below zero while the slots were made fewer than are in use. */
  function handOut(): void {
    for (const proceed of waiting) {
      if (free <= 0) return;
      free -= 1;
      proceed();
    }
  }

  function permission(): Release {
    let used = false;
    return () => {
      if (used) return;
      used = true;
      release();
    };
  }

  return {
    resize(next) {
      free += next - size;
      size = next;
      handOut();
    },
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
