import type { Faults } from '../faults.ts';

/** The one outage of a run: it begins at a request, which is the same in every run, and ends by the clock. */
export interface Outage {
  /** Counts a request, and says whether it falls into the outage. */
  isOn(): boolean;
}

/** Makes the outage of one run; `window` null means none. */
export function createOutage(window: Faults['outage'], clock: () => number): Outage {
  let requests = 0;
  let beganAt: number | null = null;
  return {
    isOn() {
      if (window === null) return false;
      requests += 1;
      if (requests <= window.afterRequests) return false;
      beganAt ??= clock();
      return clock() - beganAt < window.lastsMs;
    },
  };
}
