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
export interface RequestPace {
  /** The next place that is free. */
  readonly nextAt: number;
  readonly slowed: Slowed | null;
}

export interface Slowed {
  /** Requests a second, at that moment. */
  readonly to: number;
  /** What the service took when it first had too many. */
  readonly from: number;
  readonly at: number;
}

/** What somebody saw when the service said 429. */
export interface TooMany {
  /** Answers other than 429 in the second before. */
  readonly taken: number;
  /** Of the answers since the last time: how many were 429, from 0 to 1, and how many there were. */
  readonly share: number;
  readonly answers: number;
}

export const WHOLE_PACE: RequestPace = { nextAt: 0, slowed: null };

const MARGIN = 0.9;
const MOST_AT_ONCE = 0.5;
/** Many requests in flight hear of one and the same trouble. */
const AGAIN_AFTER_MS = 1_000;
const TWICE_AS_FAST_MS = 30_000;
/** Without a limit of our own nobody knows how much is allowed: after this long without a 429, everything. */
const WHOLE_AFTER_MS = 60_000;
/** Some services answer 429 now and then, however few come: then it is no use to go below a tenth of what was taken before. */
const NO_USE_BELOW = 0.1;
/** Unless so many are refused that the rate must be the reason. */
const SURELY_TOO_FAST = { share: 0.4, answers: 10 };

/** Requests a second at this moment; null: as many as come. */
export function rateOf({ slowed }: RequestPace, limit: number | null, now: number): number | null {
  if (slowed === null) return limit;
  const since = Math.max(0, now - slowed.at);
  if (limit === null && since >= WHOLE_AFTER_MS) return null;
  const rate = slowed.to * 2 ** (since / TWICE_AS_FAST_MS);
  return limit === null ? rate : Math.min(limit, rate);
}

/** True: slower than the limit, because the service said 429. */
export function isSlowed(rate: number | null, limit: number | null): boolean {
  return rate !== null && (limit === null || rate < limit);
}

export interface Places {
  readonly pace: RequestPace;
  /** Until the first of the requests may leave, and between one and the next. */
  readonly waitMs: number;
  readonly gapMs: number;
}

/** The next places in the row. */
export function takePlaces(
  pace: RequestPace,
  { requests, limit, now }: { readonly requests: number; readonly limit: number | null; readonly now: number },
): Places {
  const rate = rateOf(pace, limit, now);
  if (rate === null) return { pace, waitMs: 0, gapMs: 0 };
  const gapMs = 1_000 / rate;
  const at = Math.max(now, pace.nextAt);
  return { pace: { ...pace, nextAt: at + requests * gapMs }, waitMs: at - now, gapMs };
}

/** The pace after the service said 429. */
export function slowedDown(
  pace: RequestPace,
  { tooMany, limit, now }: { readonly tooMany: TooMany; readonly limit: number | null; readonly now: number },
): RequestPace {
  if (pace.slowed !== null && now - pace.slowed.at < AGAIN_AFTER_MS) return pace;
  const rate = rateOf(pace, limit, now);
  const slowest = limit === null ? 1 : Math.min(1, limit / 20);
  if (rate === null || pace.slowed === null || !isSlowed(rate, limit)) {
    const taken = limit === null ? tooMany.taken : Math.min(tooMany.taken, limit);
    const to = Math.max(slowest, taken * MARGIN);
    return { ...pace, slowed: { to, from: Math.max(to, taken), at: now } };
  }
  const { from } = pace.slowed;
  const sure = tooMany.share > SURELY_TOO_FAST.share && tooMany.answers >= SURELY_TOO_FAST.answers;
  const lowest = sure ? slowest : Math.max(slowest, from * NO_USE_BELOW);
  const to = Math.max(Math.min(lowest, rate), rate * MARGIN * Math.max(MOST_AT_ONCE, 1 - tooMany.share));
  return { ...pace, slowed: { to, from, at: now } };
}
