/** Timers that can be stopped all at once. */
export interface Alarms {
  /** Calls back once, after the delay, unless all are stopped before. */
  after(delayMs: number, ring: () => void): void;
  /** None rings from now on, and none can be set any more. */
  stop(): void;
}

// setTimeout fires at once when it is given more.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Makes timers over `setTimeout`. A delay above its limit of 2^31 - 1 ms rings at that limit. */
export function createAlarms(): Alarms {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  return {
    after(delayMs, ring) {
      if (stopped) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          ring();
        },
        Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS),
      );
      timers.add(timer);
    },
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
