import {
  isThrottled,
  leftOfHold,
  rateOf,
  throttle,
  reservePermits,
  FULL_RATE,
  type TooMany,
} from '../../domain/request-rate.ts';

/** Spreads requests evenly at a rate; bursts are what makes a service answer 429. */
export interface RateLimiter {
  /** Takes the next permit. Returns how long to wait until it may be used, in milliseconds. */
  reserve(now: number): number | Promise<number>;
  /** Requests may leave as they come: no rate is in force and no hold, as far as this process knows. */
  isOpen(now: number): boolean;
  /** Whether the rate is below the limit, as far as this process knows. */
  throttled(now: number): boolean;
  slowDown(tooMany: TooMany, now: number): void;
  /** Until then nothing may leave, as far as this process knows; see `leftOfHold`. */
  heldUntil(): number;
  /** The service's own Retry-After. */
  hold(until: number, now: number): void;
}

/** A rate limiter of one process: it knows a permit at once. */
export interface LocalRateLimiter extends RateLimiter {
  reserve(now: number): number;
  /** Requests a second that may leave; null: as many as come. */
  rate(now: number): number | null;
}

/** Makes the rate limiter of this process alone. `requestsPerSecond` null: no limit but what answers of 429 teach. */
export function createRateLimiter(requestsPerSecond: number | null): LocalRateLimiter {
  let state = FULL_RATE;
  let heldUntil = 0;
  const isUnlimited = (): boolean => requestsPerSecond === null && state.throttled === null;
  return {
    isOpen: (now) => isUnlimited() && leftOfHold(heldUntil, now) === 0,
    reserve(now) {
      if (isUnlimited()) return 0;
      const reserved = reservePermits(state, { requests: 1, limit: requestsPerSecond, now });
      state = reserved.state;
      return reserved.waitMs;
    },
    rate: (now) => rateOf(state, requestsPerSecond, now),
    throttled: (now) => isThrottled(rateOf(state, requestsPerSecond, now), requestsPerSecond),
    slowDown(tooMany, now) {
      state = throttle(state, { tooMany, limit: requestsPerSecond, now });
    },
    heldUntil: () => heldUntil,
    hold(until, now) {
      heldUntil = Math.max(now + leftOfHold(heldUntil, now), until);
    },
  };
}
