import { isSlowed, rateOf, slowedDown, takePlaces, WHOLE_PACE, type TooMany } from '../domain/request-pace.ts';

/** Spreads requests evenly at a rate; bursts are what makes a service answer 429. */
export interface Pace {
  /** Takes the next place in the row and says how long to wait for it, in milliseconds. */
  reserve(now: number): number | Promise<number>;
  /** Slower than the limit, as far as this process knows. */
  slowed(now: number): boolean;
  slowDown(tooMany: TooMany, now: number): void;
  /** Until then nothing may leave, as far as this process knows. */
  heldUntil(): number;
  /** The service's own Retry-After. */
  hold(until: number, now: number): void;
}

/** Nobody else is asked, so that a place is known at once. */
export interface OwnPace extends Pace {
  reserve(now: number): number;
}

/** The pace of this process alone. `requestsPerSecond` null: no limit but what answers of 429 teach. */
export function createPace(requestsPerSecond: number | null): OwnPace {
  let pace = WHOLE_PACE;
  let heldUntil = 0;
  return {
    reserve(now) {
      if (requestsPerSecond === null && pace.slowed === null) return 0;
      const places = takePlaces(pace, { requests: 1, limit: requestsPerSecond, now });
      pace = places.pace;
      return places.waitMs;
    },
    slowed: (now) => isSlowed(rateOf(pace, requestsPerSecond, now), requestsPerSecond),
    slowDown(tooMany, now) {
      pace = slowedDown(pace, { tooMany, limit: requestsPerSecond, now });
    },
    heldUntil: () => heldUntil,
    hold(until) {
      heldUntil = Math.max(heldUntil, until);
    },
  };
}
