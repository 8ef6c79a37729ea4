import { isAhead } from './time/instants.ts';

/**
 * The request rate of one base address, which all processes of a ledger share.
 *
 * The rate is full (the limit of the profile, or none) until the service answers that too many requests come. Then Lote
 * reduces the rate to half of what the service took in a second, and to three quarters of itself at each further such
 * answer, at most once a second. The rate doubles every 30 s, and is full again a minute after the last such answer.
 */
export interface RequestRate {
  /** When the next permit is free, in epoch milliseconds. */
  readonly nextAt: number;
  /** Null if the rate is full. */
  readonly slowed: SlowedRate | null;
}

export interface SlowedRate {
  /** Requests a second at the time `at`. */
  readonly to: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The rate of an address without requests. */
export const FULL_RATE: RequestRate = { nextAt: 0, slowed: null };

/** Lote halves the number of requests that the service took in a second, because a service often takes a burst first. */
const OF_WHAT_WAS_TAKEN = 1 / 2;
const OF_THE_RATE = 3 / 4;
/** Many requests in flight are refused for the same cause, so they reduce the rate once. */
const AGAIN_AFTER_MS = 1_000;
const TWICE_AS_FAST_MS = 30_000;
const FULL_AFTER_MS = 60_000;
/** The rate does not fall below one request a second, or a twentieth of a limit below 20. */
const SLOWEST = { rate: 1, shareOfLimit: 1 / 20 };
/** A longer queue shows that the clock was set back after the permits were reserved. */
const LONGEST_QUEUE = { ms: 60_000, permits: 1_000 };

/** The longest time that Lote waits because the service asks for it, in milliseconds; then it sends requests again. */
export const LONGEST_HOLD_MS = 10 * 60_000;

/** Returns the present rate in requests a second; null without a limit. */
export function rateOf({ slowed }: RequestRate, limit: number | null, now: number): number | null {
  const since = slowed === null ? FULL_AFTER_MS : now - slowed.at;
  // A time in the future shows that the clock was set back.
  if (slowed === null || since >= FULL_AFTER_MS || since < 0) return limit;
  return Math.min(limit ?? Infinity, slowed.to * 2 ** (since / TWICE_AS_FAST_MS));
}

/** Returns how long requests that may not leave before `until` are still held, in milliseconds. */
export function leftOfHold(until: number, now: number): number {
  // A longer hold shows that the clock was set back after the hold was noted.
  if (isAhead(until, now + LONGEST_HOLD_MS)) return 0;
  return Math.min(Math.max(0, until - now), LONGEST_HOLD_MS);
}

/** Permits to send, and the state after they are taken. */
export interface PermitReservation {
  readonly state: RequestRate;
  /** Milliseconds until the first of the requests may leave. */
  readonly waitMs: number;
  /** Milliseconds between one request and the next. */
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
  const isSetBack = state.nextAt - now > Math.max(LONGEST_QUEUE.ms, LONGEST_QUEUE.permits * gapMs);
  const at = isSetBack ? now : Math.max(now, state.nextAt);
  return { state: { ...state, nextAt: at + requests * gapMs }, waitMs: at - now, gapMs };
}

/** Returns the state after the service has refused too many requests; `taken` is how many it took in the second before. */
export function slowDown(
  state: RequestRate,
  { taken, limit, now }: { readonly taken: number; readonly limit: number | null; readonly now: number },
): RequestRate {
  const { slowed } = state;
  if (slowed !== null && Math.abs(now - slowed.at) < AGAIN_AFTER_MS) return state;
  const rate = rateOf(state, limit, now);
  const isFull = rate === null || rate === limit;
  const to = isFull ? Math.min(taken, limit ?? Infinity) * OF_WHAT_WAS_TAKEN : rate * OF_THE_RATE;
  const slowest = Math.min(SLOWEST.rate, (limit ?? Infinity) * SLOWEST.shareOfLimit);
  return { ...state, slowed: { to: Math.max(slowest, to), at: now } };
}
