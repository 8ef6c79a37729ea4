import { isThrottled, rateOf, throttle, takePlaces, FULL_RATE, type TooMany } from '../domain/request-pace.ts';

/** Spreads requests evenly at a rate; bursts are what makes a service answer 429. */
export interface RateLimiter {
  /** Takes the next place in the row and says how long to wait for it, in milliseconds. */
  reserve(now: number): number | Promise<number>;
  /** Slower than the limit, as far as this process knows. */
  throttled(now: number): boolean;
  slowDown(tooMany: TooMany, now: number): void;
  /** Until then nothing may leave, as far as this process knows. */
  heldUntil(): number;
  /** The service's own Retry-After. */
  hold(until: number, now: number): void;
}

/** Nobody else is asked, so that a place is known at once. */
export interface LocalRateLimiter extends RateLimiter {
  reserve(now: number): number;
}

/** The pace of this process alone. `requestsPerSecond` null: no limit but what answers of 429 teach. */
export function createRateLimiter(requestsPerSecond: number | null): LocalRateLimiter {
  let pace = FULL_RATE;
  let heldUntil = 0;
  return {
    reserve(now) {
      if (requestsPerSecond === null && pace.throttled === null) return 0;
      const places = takePlaces(pace, { requests: 1, limit: requestsPerSecond, now });
      pace = places.pace;
      return places.waitMs;
    },
    throttled: (now) => isThrottled(rateOf(pace, requestsPerSecond, now), requestsPerSecond),
    slowDown(tooMany, now) {
      pace = throttle(pace, { tooMany, limit: requestsPerSecond, now });
    },
    heldUntil: () => heldUntil,
    hold(until) {
      heldUntil = Math.max(heldUntil, until);
    },
  };
}
