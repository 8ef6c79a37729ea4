import type { Pace } from './pace.ts';

/** Leased at once: a fifth of a second's worth. Less would ask the ledger for every request, more would let one worker starve another. */
const LEASE_SECONDS = 0.2;
/** A place that was not used in time is gone: used later, it would be a burst. */
const STALE_MS = 250;

export interface LeasedPaceOptions {
  readonly requestsPerSecond: number;
  readonly lease: (requests: number) => Promise<{ readonly waitMs: number; readonly gapMs: number }>;
  readonly now: () => number;
}

/** The rate of all processes together: places in one row, which the ledger hands out a few at a time. */
export function createLeasedPace({ requestsPerSecond, lease, now }: LeasedPaceOptions): Pace {
  const size = Math.max(1, Math.ceil(requestsPerSecond * LEASE_SECONDS));
  let places: number[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  async function takePlace(): Promise<number> {
    places = places.filter((at) => at > now() - STALE_MS);
    if (places.length === 0) {
      const asked = now();
      const { waitMs, gapMs } = await lease(size);
      places = Array.from({ length: size }, (_, index) => asked + waitMs + index * gapMs);
    }
    return places.shift() ?? now();
  }

  return {
    async reserve(at) {
      // One after the other: callers that come while a lease is fetched share it.
      const mine = turn.then(takePlace);
      turn = mine.catch(() => undefined);
      return Math.max(0, (await mine) - at);
    },
  };
}
