import type { RateLease, RateUpdate } from '../../domain/ports/ledger/service-use-ledger.ts';
import { isThrottled, leftOfHold, type TooMany } from '../../domain/request-rate.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * A lease covers a fifth of a second. A shorter one would call the ledger for every request; a longer one would let one
 * worker starve another.
 */
const LEASE_SECONDS = 0.2;
/**
 * A process that has used all of its permits for so long leases as many as it will use in that time, of a slow service: a
 * lease is four statements. Of a fast one, a fifth of a second is as many.
 */
const BUSY_MS = 1_000;
const MOST_OF_A_BUSY_LEASE = 20;
/** A permit that was not used in time is lost: used later, it would make a burst. */
const STALE_MS = 250;
/** Many answers bring the same Retry-After within a few milliseconds: the other processes hear of it once. */
const SAME_HOLD_MS = 100;

export interface LeasedRateLimiterOptions {
  /** Null: no limit but what answers of 429 teach. */
  readonly requestsPerSecond: number | null;
  readonly lease: (requests: number) => Promise<RateLease>;
  /** `slowDown` and `hold` notify the other processes. A notice that fails is dropped; the next one follows. */
  readonly slowDown: (tooMany: TooMany) => Promise<RateUpdate>;
  readonly hold: (ms: number) => Promise<void>;
  readonly now: () => number;
}

export interface LeasedRateLimiter extends RateLimiter {
  /** Takes over the rate and the hold that the ledger has for all processes. */
  learn(update: RateUpdate): void;
}

/**
 * Rate limiter of all processes together: the ledger leases permits, a few at a time. Without a limit, no process
 * calls the ledger.
 */
export function createLeasedRateLimiter({
  requestsPerSecond,
  lease,
  slowDown,
  hold,
  now,
}: LeasedRateLimiterOptions): LeasedRateLimiter {
  let rate = requestsPerSecond;
  let heldUntil = 0;
  let permits: number[] = [];
  /** Since when each permit was used; null: it is not known yet. */
  let busySince: number | null = null;
  /** When the last permit of the last lease counts. */
  let lastPermit: number | null = null;
  let leasedAt = -Infinity;
  let turn: Promise<unknown> = Promise.resolve();

  function learn(update: RateUpdate): void {
    // These permits were leased at the rate before.
    if (rate === null || update.requestsPerSecond === null || update.requestsPerSecond < rate) {
      permits = [];
      busySince = null;
    }
    rate = update.requestsPerSecond;
    if (update.heldMs > 0) prolong(now() + update.heldMs, now());
  }

  function prolong(until: number, at: number): void {
    heldUntil = Math.max(at + leftOfHold(heldUntil, at), until);
  }

  async function takePermit(): Promise<number> {
    const asked = now();
    // A clock that was set back makes permits wait for the time that it has lost.
    const fresh = asked < leasedAt ? [] : permits.filter((at) => at > asked - STALE_MS);
    if (fresh.length < permits.length) busySince = null;
    permits = fresh;
    if (permits.length === 0 && rate !== null) {
      busySince = asked - (lastPermit ?? -Infinity) > STALE_MS ? asked : (busySince ?? asked);
      const size = sizeOfLease(rate, asked - busySince >= BUSY_MS);
      leasedAt = asked;
      const leased = await lease(size);
      learn(leased);
      permits = Array.from({ length: size }, (_, index) => asked + leased.waitMs + index * leased.gapMs);
      lastPermit = permits.at(-1) ?? null;
    }
    return permits.shift() ?? now();
  }

  return {
    learn,
    isOpen: (at) => rate === null && leftOfHold(heldUntil, at) === 0,
    reserve(at) {
      if (rate === null) return 0;
      // Callers wait in a queue: those that come while a lease is fetched share it.
      const mine = turn.then(takePermit);
      turn = mine.catch(() => undefined);
      return mine.then((permit) => Math.max(0, permit - at));
    },
    throttled: () => isThrottled(rate, requestsPerSecond),
    slowDown: (tooMany) => void slowDown(tooMany).then(learn, () => undefined),
    heldUntil: () => heldUntil,
    hold(until, at) {
      const known = leftOfHold(heldUntil, at) === 0 ? 0 : heldUntil;
      if (until - known > SAME_HOLD_MS) void hold(until - at).catch(() => undefined);
      prolong(until, at);
    },
  };
}

function sizeOfLease(rate: number, isBusy: boolean): number {
  const few = Math.max(1, Math.ceil(rate * LEASE_SECONDS));
  if (!isBusy) return few;
  return Math.max(few, Math.min(MOST_OF_A_BUSY_LEASE, Math.ceil((rate * BUSY_MS) / 1_000)));
}
