/** A limit on requests a second, over all applications. */
export interface RateLimit {
  /** Counts a request, and says whether it is one too many. */
  isOver(): boolean;
}

/** A second's worth may come at once; what is refused counts for nothing. */
const BURST_MS = 1_000;

/** Makes a limit over all applications together; `requestsPerSecond` null means none. */
export function createRateLimit(requestsPerSecond: number | null, clock: () => number): RateLimit {
  if (requestsPerSecond === null) return { isOver: () => false };
  const gap = 1_000 / requestsPerSecond;
  let nextAt = 0;
  return {
    isOver() {
      const now = clock();
      const at = Math.max(nextAt, now);
      if (at - now >= Math.max(BURST_MS, gap)) return true;
      nextAt = at + gap;
      return false;
    },
  };
}
