/**
 * How fast requests may leave for one base address, and how answers of 429 change that. The same rules hold in one process and, kept as a row
 * of the ledger, over all processes of it.
 *
 * | the pace is | a 429 | time without one |
 * |---|---|---|
 * | whole: the limit, or none | slowed to nine tenths of what the service took in the last second | |
 * | slowed | once a second a tenth less, and less by the share that was refused, down to half | twice as fast every half minute, until it is whole |
 *
 * A service that counts requests in flight instead of requests a second is met too: requests in flight are the rate times the time of an answer.
 */
export interface RequestRate {
  /** The next place that is free. */
  readonly nextAt: number;
  readonly throttled: Throttling | null;
}

export interface Throttling {
  /** Requests a second, at that moment. */
  readonly to: number;
  /** What the service took when it first had too many, or surely less. */
  readonly from: number;
  readonly at: number;
}

/** What one process observed when the service answered 429. */
export interface TooMany {
  /** Answers other than 429 in the second before. */
  readonly taken: number;
  /** Of the latest answers: how many were 429, from 0 to 1, and how many there were. */
  readonly share: number;
  readonly answers: number;
}

/** State of a rate limiter that has sent nothing and is not throttled. */
export const FULL_RATE: RequestRate = { nextAt: 0, throttled: null };

const MARGIN = 0.9;
const MOST_AT_ONCE = 0.5;
/** Many requests in flight get a 429 for the same cause. */
const AGAIN_AFTER_MS = 1_000;
const TWICE_AS_FAST_MS = 30_000;
/** Without a configured limit the allowed rate is not known: after this long without a 429, the limit is lifted. */
const WHOLE_AFTER_MS = 60_000;
/** Some services answer 429 now and then, however few come: then it is no use to go below a quarter of what was taken before. */
const NO_USE_BELOW = 0.25;
/** Unless so many are refused that the rate must be the reason. */
const SURELY_TOO_FAST = { share: 0.5, answers: 8 };
/** Of fewer answers the share is an accident: it counts the less, the fewer they are. */
const ENOUGH_ANSWERS = 10;

/** Requests a second at this moment; null: as many as come. */
export function rateOf({ throttled }: RequestRate, limit: number | null, now: number): number | null {
  if (throttled === null) return limit;
  const since = Math.max(0, now - throttled.at);
  if (limit === null && since >= WHOLE_AFTER_MS) return null;
  const rate = throttled.to * 2 ** (since / TWICE_AS_FAST_MS);
  return limit === null ? rate : Math.min(limit, rate);
}

/** True: slower than the limit, because the service said 429. */
export function isThrottled(rate: number | null, limit: number | null): boolean {
  return rate !== null && (limit === null || rate < limit);
}

export interface Places {
  readonly pace: RequestRate;
  /** Until the first of the requests may leave, and between one and the next. */
  readonly waitMs: number;
  readonly gapMs: number;
}

/** The next places in the row. */
export function takePlaces(
  pace: RequestRate,
  { requests, limit, now }: { readonly requests: number; readonly limit: number | null; readonly now: number },
): Places {
  const rate = rateOf(pace, limit, now);
  if (rate === null) return { pace, waitMs: 0, gapMs: 0 };
  const gapMs = 1_000 / rate;
  const at = Math.max(now, pace.nextAt);
  return { pace: { ...pace, nextAt: at + requests * gapMs }, waitMs: at - now, gapMs };
}

/** The pace after the service said 429. */
export function throttle(
  pace: RequestRate,
  { tooMany, limit, now }: { readonly tooMany: TooMany; readonly limit: number | null; readonly now: number },
): RequestRate {
  if (pace.throttled !== null && now - pace.throttled.at < AGAIN_AFTER_MS) return pace;
  const rate = rateOf(pace, limit, now);
  const slowest = limit === null ? 1 : Math.min(1, limit / 20);
  if (rate === null || pace.throttled === null || !isThrottled(rate, limit)) {
    const taken = limit === null ? tooMany.taken : Math.min(tooMany.taken, limit);
    const to = Math.max(slowest, taken * MARGIN);
    return { ...pace, throttled: { to, from: Math.max(to, taken), at: now } };
  }
  const { from } = pace.throttled;
  const sure = tooMany.share > SURELY_TOO_FAST.share && tooMany.answers >= SURELY_TOO_FAST.answers;
  const lowest = sure ? slowest : Math.max(slowest, from * NO_USE_BELOW);
  const share = tooMany.share * Math.min(1, tooMany.answers / ENOUGH_ANSWERS);
  const to = Math.max(Math.min(lowest, rate), rate * MARGIN * Math.max(MOST_AT_ONCE, 1 - share));
  // What was taken before was a burst: it says nothing of what is taken for long.
  return { ...pace, throttled: { to, from: sure ? Math.min(from, to) : from, at: now } };
}
