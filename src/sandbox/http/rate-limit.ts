/** A limit on requests a second, over all applications. */
export interface RateLimit {
  /** Counts a request, and says whether it is one too many. */
  isOver(): boolean;
}

/** A second's worth may come at once, but never less than one request; what is refused counts for nothing. */
const BURST_MS = 1_000;
/** Of the clock: a request that comes before its time, by however little, is one too many where only one may come. */
const SHORTEST_MS = 1;

/** Makes a limit over all applications together; `requestsPerSecond` null means none. */
export function createRateLimit(requestsPerSecond: number | null, clock: () => number): RateLimit {
  if (requestsPerSecond === null) return { isOver: () => false };
  const gap = 1_000 / requestsPerSecond;
  const tolerance = gap < BURST_MS ? BURST_MS : SHORTEST_MS;
  let nextAt = 0;
  return {
    isOver() {
      const now = clock();
      const at = Math.max(nextAt, now);
      if (at - now >= tolerance) return true;
      nextAt = at + gap;
      return false;
    },
  };
}
