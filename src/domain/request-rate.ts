import { isAhead } from './time/is-ahead.ts';

/**
 * State of the adaptive rate limiter (AIMD) of one base address. The same rules hold in one process and, kept as a row
 * of the ledger, over all its processes.
 *
 * | the rate is | a 429 makes it | time without a 429 makes it |
 * |---|---|---|
 * | full: the limit, or none | nine tenths of what the service took in the last second | |
 * | throttled | once a second a tenth less, and less by the refused share, down to half | double each 30 s, until full |
 *
 * The rules also fit a service that limits requests in flight: these are the rate times the time of an answer.
 */
export interface RequestRate {
  /** When the next permit is free, in epoch milliseconds. */
  readonly nextAt: number;
  readonly throttled: Throttling | null;
}

export interface Throttling {
  /** Requests a second at the time `at`. */
  readonly to: number;
  /** Requests a second that the service took when it first answered 429, or surely less. */
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
/** Without a configured limit the allowed rate is not known: after this long without a 429, throttling ends. */
const FULL_AFTER_MS = 60_000;
/**
 * The rate does not fall below this share of what was taken before: some services answer 429 now and then, however few
 * requests come.
 */
const NO_USE_BELOW = 0.25;
/** Above this share, of at least so many answers, the rate must be the reason: it may fall further. */
const SURELY_TOO_FAST = { share: 0.5, answers: 8 };
/** The share of fewer answers than this may be an accident: it counts in proportion to their number. */
const ENOUGH_ANSWERS = 10;

/** No queue is longer than both: a permit after them was taken before the clock was set back, and nobody waits for it. */
const LONGEST_QUEUE_MS = 60_000;
const LONGEST_QUEUE = 1_000;

/** Requests a second at this moment; null: as many as come. */
export function rateOf({ throttled }: RequestRate, limit: number | null, now: number): number | null {
  if (throttled === null) return limit;
  const since = Math.max(0, now - throttled.at);
  if (limit === null && since >= FULL_AFTER_MS) return null;
  const rate = throttled.to * 2 ** (since / TWICE_AS_FAST_MS);
  return limit === null ? rate : Math.min(limit, rate);
}

/** Whether the rate is below the limit because the service answered 429. */
export function isThrottled(rate: number | null, limit: number | null): boolean {
  return rate !== null && (limit === null || rate < limit);
}

/** A service that asks for hours is broken or hostile; ten minutes is asked again (DESIGN, Sending). In milliseconds. */
export const LONGEST_HOLD_MS = 10 * 60_000;

/**
 * How long requests are still held that may not leave before `until`, in milliseconds. No hold is longer than the longest: one that began at a time that has
 * not come yet was noted by a clock that has been set back, and is over.
 */
export function leftOfHold(until: number, now: number): number {
  if (isAhead(until, now + LONGEST_HOLD_MS)) return 0;
  return Math.min(Math.max(0, until - now), LONGEST_HOLD_MS);
}

/** Permits to send, and the state after they are taken. */
export interface PermitReservation {
  readonly state: RequestRate;
  /** Until the first of the requests may leave, and between one and the next. */
  readonly waitMs: number;
  readonly gapMs: number;
}

/** Takes the next free permits. `now` is in epoch milliseconds, `limit` in requests a second (null: none). */
export function reservePermits(
  state: RequestRate,
  { requests, limit, now }: { readonly requests: number; readonly limit: number | null; readonly now: number },
): PermitReservation {
  const rate = rateOf(state, limit, now);
  if (rate === null) return { state, waitMs: 0, gapMs: 0 };
  const gapMs = 1_000 / rate;
  const isSetBack = state.nextAt - now > Math.max(LONGEST_QUEUE_MS, LONGEST_QUEUE * gapMs);
  const at = isSetBack ? now : Math.max(now, state.nextAt);
  return { state: { ...state, nextAt: at + requests * gapMs }, waitMs: at - now, gapMs };
}

/** The state after an answer of 429. */
export function throttle(
  state: RequestRate,
  { tooMany, limit, now }: { readonly tooMany: TooMany; readonly limit: number | null; readonly now: number },
): RequestRate {
  if (state.throttled !== null && now - state.throttled.at < AGAIN_AFTER_MS) return state;
  const rate = rateOf(state, limit, now);
  const slowest = limit === null ? 1 : Math.min(1, limit / 20);
  if (rate === null || state.throttled === null || !isThrottled(rate, limit)) {
    const taken = limit === null ? tooMany.taken : Math.min(tooMany.taken, limit);
    const to = Math.max(slowest, taken * MARGIN);
    return { ...state, throttled: { to, from: Math.max(to, taken), at: now } };
  }
  const { from } = state.throttled;
  const sure = tooMany.share > SURELY_TOO_FAST.share && tooMany.answers >= SURELY_TOO_FAST.answers;
  const lowest = sure ? slowest : Math.max(slowest, from * NO_USE_BELOW);
  const share = tooMany.share * Math.min(1, tooMany.answers / ENOUGH_ANSWERS);
  const to = Math.max(Math.min(lowest, rate), rate * MARGIN * Math.max(MOST_AT_ONCE, 1 - share));
  // What the service took before may have been a burst: `from` falls, too.
  return { ...state, throttled: { to, from: sure ? Math.min(from, to) : from, at: now } };
}
