import type { RateLease, RateNews } from '../domain/ports/service-use-ledger.ts';
import { isThrottled, type TooMany } from '../domain/request-pace.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** Leased at once: a fifth of a second's worth. Less would ask the ledger for every request, more would let one worker starve another. */
const LEASE_SECONDS = 0.2;
/** A place that was not used in time is gone: used later, it would be a burst. */
const STALE_MS = 250;
/** Many answers bring one and the same Retry-After, a few milliseconds apart: the others hear of it once. */
const SAME_HOLD_MS = 100;

export interface LeasedRateLimiterOptions {
  /** Null: no limit but what answers of 429 teach. */
  readonly requestsPerSecond: number | null;
  readonly lease: (requests: number) => Promise<RateLease>;
  /** Both tell the other processes. Advice: a ledger that is away hears of the next one. */
  readonly slowDown: (tooMany: TooMany) => Promise<RateNews>;
  readonly hold: (ms: number) => Promise<void>;
  readonly now: () => number;
}

export interface LeasedRateLimiter extends RateLimiter {
  /** What another process has brought about. */
  learn(news: RateNews): void;
}

/** The rate of all processes together: places in one row, which the ledger hands out a few at a time. While there is no limit, nobody asks it. */
export function createLeasedRateLimiter({
  requestsPerSecond,
  lease,
  slowDown,
  hold,
  now,
}: LeasedRateLimiterOptions): LeasedRateLimiter {
  let rate = requestsPerSecond;
  let heldUntil = 0;
  let places: number[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  function learn(news: RateNews): void {
    // Places were handed out at the rate before.
    if (rate === null || news.requestsPerSecond === null || news.requestsPerSecond < rate) places = [];
    rate = news.requestsPerSecond;
    if (news.heldMs > 0) heldUntil = Math.max(heldUntil, now() + news.heldMs);
  }

  async function takePlace(): Promise<number> {
    places = places.filter((at) => at > now() - STALE_MS);
    if (places.length === 0 && rate !== null) {
      const asked = now();
      const size = Math.max(1, Math.ceil(rate * LEASE_SECONDS));
      const leased = await lease(size);
      learn(leased);
      places = Array.from({ length: size }, (_, index) => asked + leased.waitMs + index * leased.gapMs);
    }
    return places.shift() ?? now();
  }

  return {
    learn,
    reserve(at) {
      if (rate === null) return 0;
      // One after the other: callers that come while a lease is fetched share it.
      const mine = turn.then(takePlace);
      turn = mine.catch(() => undefined);
      return mine.then((place) => Math.max(0, place - at));
    },
    throttled: () => isThrottled(rate, requestsPerSecond),
    slowDown: (tooMany) => void slowDown(tooMany).then(learn, () => undefined),
    heldUntil: () => heldUntil,
    hold(until, at) {
      if (until - heldUntil > SAME_HOLD_MS) void hold(until - at).catch(() => undefined);
      heldUntil = Math.max(heldUntil, until);
    },
  };
}
