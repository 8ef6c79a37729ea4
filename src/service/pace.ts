/** Spreads requests evenly at a rate; bursts are what makes a service answer 429. */
export interface Pace {
  /** Takes the next place in the row and says how long to wait for it, in milliseconds. */
  reserve(now: number): number | Promise<number>;
}

/** `requestsPerSecond` null: no limit. */
export function createPace(requestsPerSecond: number | null): { reserve(now: number): number } {
  if (requestsPerSecond === null) return { reserve: () => 0 };
  const gap = 1_000 / requestsPerSecond;
  let nextAt = 0;
  return {
    reserve(now) {
      const at = Math.max(now, nextAt);
      nextAt = at + gap;
      return at - now;
    },
  };
}
