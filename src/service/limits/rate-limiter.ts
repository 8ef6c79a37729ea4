import { FULL_RATE, leftOfHold, LONGEST_HOLD_MS, rateOf, reservePermits, slowDown } from '../../domain/request-rate.ts';
import { sharedAnswer } from '../../platform/concurrency.ts';
import type { RateLease, RateUpdate } from '../../ledger/sending/service-use.ts';

/** While requests leave, this process reads the shared rate again after this time. */
const ASK_AGAIN_MS = 1_000;
/** No request leaves if the last known rate is older: the ledger was unreachable, or this process was suspended. */
const KNOWN_FOR_MS = 10_000;
/** An unused permit expires after this time: used later, it would make a burst. */
const STALE_MS = 250;
/** A lease covers a fifth of a second; for a slow service that is kept busy, a second, but at most 20 permits. */
const LEASE = { seconds: 0.2, most: 20 };
/** Many answers bring the same Retry-After within a few milliseconds; this process tells the ledger once. */
const SAME_HOLD_MS = 100;

/** The rate and the hold of one base address, shared by all processes. Rates are requests a second. */
export interface SharedRate {
  current(): Promise<RateUpdate>;
  lease(requests: number): Promise<RateLease>;
  /** Lowers the rate after too many refusals; `taken` is how many requests the service took in the second before. */
  slowDown(taken: number): Promise<RateUpdate>;
  hold(ms: number): Promise<void>;
}

/** This process's view of the shared rate. All times are milliseconds of this process's monotonic clock. */
export class RateLimiter {
  readonly #shared: SharedRate;
  readonly #permits = createLeasedPermits();
  readonly #refusedShare = createRefusedShare();
  readonly #ask = sharedAnswer(async () => this.#learn(await this.#shared.current()));
  #rate: number | null = null;
  #heldUntil = 0;
  #knownAt = Number.NEGATIVE_INFINITY;
  #slowing: Promise<void> | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(shared: SharedRate) {
    this.#shared = shared;
  }

  /** Tells whether a request may leave at once. */
  isOpen(): boolean {
    if (this.#age() > ASK_AGAIN_MS) this.#ask().catch(() => undefined);
    return this.#rate === null && this.#slowing === null && this.heldMs() === 0 && this.#age() <= KNOWN_FOR_MS;
  }

  /** Returns the milliseconds to wait for a permit. Callers queue, and share a lease that is being fetched. */
  reserve(): Promise<number> {
    const mine = this.#turn.then(() => this.#takePermit());
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Returns how many milliseconds no request may leave, because the service asked for the pause. */
  heldMs(): number {
    return Math.max(0, this.#heldUntil - performance.now());
  }

  hold(ms: number): void {
    if (ms - this.heldMs() > SAME_HOLD_MS) this.#shared.hold(ms).catch(() => undefined);
    this.#prolong(ms);
  }

  /** Counts an answer to a request that left at `sentAt`. */
  note(load: 'taken' | 'too-many', sentAt: number): void {
    const taken = this.#refusedShare.note(load, sentAt, performance.now());
    if (taken === null) return;
    this.#slowing = this.#shared
      .slowDown(taken)
      .then(
        (update) => this.#learn(update),
        () => undefined,
      )
      .finally(() => (this.#slowing = null));
  }

  async #takePermit(): Promise<number> {
    if (this.#slowing !== null) await this.#slowing;
    if (this.#age() > KNOWN_FOR_MS) await this.#ask();
    if (this.#rate === null) return 0;
    return this.#permits.take(this.#rate, async (requests) => {
      const leased = await this.#shared.lease(requests);
      this.#learn(leased);
      return leased;
    });
  }

  #learn(update: RateUpdate): void {
    // Permits of a faster rate are invalid.
    if ((update.requestsPerSecond ?? Infinity) < (this.#rate ?? Infinity)) this.#permits.drop();
    this.#rate = update.requestsPerSecond;
    this.#knownAt = performance.now();
    this.#prolong(update.heldMs);
  }

  #prolong(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + Math.min(ms, LONGEST_HOLD_MS));
  }

  /** Returns the time since this process last read the shared rate, in milliseconds. */
  #age(): number {
    return performance.now() - this.#knownAt;
  }
}

/** The permits that this process has leased and not used yet. */
function createLeasedPermits() {
  /** The time from which each permit may be used, in milliseconds of the monotonic clock. */
  let permits: number[] = [];
  let lastPermit = Number.NEGATIVE_INFINITY;
  let size = 1;
  return {
    drop: () => void (permits = []),
    /** Returns how long to wait for the next permit, in milliseconds. */
    async take(rate: number, lease: (requests: number) => Promise<RateLease>): Promise<number> {
      const asked = performance.now();
      permits = permits.filter((at) => at > asked - STALE_MS);
      if (permits.length === 0) {
        const most = Math.max(1, Math.ceil(rate * LEASE.seconds), Math.min(LEASE.most, Math.ceil(rate)));
        size = lastPermit < asked - STALE_MS ? 1 : Math.min(most, size * 2);
        const { waitMs, gapMs } = await lease(size);
        permits = Array.from({ length: size }, (_, index) => asked + waitMs + index * gapMs);
        lastPermit = permits.at(-1) ?? asked;
      }
      return Math.max(0, (permits.shift() ?? asked) - performance.now());
    },
  };
}

/** Makes the rate of a single process. If `limit` is null, only the service's answers limit the rate. */
export function localRate(limit: number | null): SharedRate {
  let state = FULL_RATE;
  let heldUntil = 0;
  const update = (): RateUpdate => ({
    requestsPerSecond: rateOf(state, limit, Date.now()),
    heldMs: leftOfHold(heldUntil, Date.now()),
  });
  return {
    current: async () => update(),
    async lease(requests) {
      const { state: next, waitMs, gapMs } = reservePermits(state, { requests, limit, now: Date.now() });
      state = next;
      return { waitMs, gapMs, ...update() };
    },
    async slowDown(taken) {
      state = slowDown(state, { taken, limit, now: Date.now() });
      return update();
    },
    async hold(ms) {
      heldUntil = Math.max(heldUntil, Date.now() + ms);
    },
  };
}

/** The factor by which each new answer lowers the weight of the earlier ones: about the last hundred count. */
const FADING = 0.99;
/** Fewer refusals may come from a burst of another client; the service's own Retry-After is then enough. */
const TOO_MANY = { share: 1 / 8, refused: 6 };
const SECOND_MS = 1_000;

/**
 * Judges from the answers of one process whether the process sends too fast. Answers to requests that left before the
 * last change of the rate do not count.
 */
export function createRefusedShare() {
  let answers = 0;
  let refused = 0;
  let changedAt = Number.NEGATIVE_INFINITY;
  /** The times at which the service took the requests of the last second, oldest first. */
  const taken: number[] = [];

  return {
    /** Counts an answer. If Lote must slow down, returns how many requests the service took in the last second. */
    note(load: 'taken' | 'too-many', sentAt: number, now: number): number | null {
      if (load === 'taken') taken.push(now);
      while ((taken[0] ?? now) <= now - SECOND_MS) taken.shift();
      if (sentAt <= changedAt) return null;
      answers = answers * FADING + 1;
      refused = refused * FADING + (load === 'too-many' ? 1 : 0);
      if (load === 'taken' || refused < TOO_MANY.refused || refused <= answers * TOO_MANY.share) return null;
      [answers, refused, changedAt] = [0, 0, now];
      return taken.length;
    },
  };
}
