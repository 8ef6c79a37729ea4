import { createSemaphore } from '../../platform/concurrency.ts';
import type { ExchangeResult } from '../exchange-result.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { backoffOf } from './backoff.ts';
import { RateLimiter, type SharedRate } from './rate-limiter.ts';
import type { PostLimits } from '../../domain/records/service-answers.ts';

/** The limiter waits out a shorter hold; it answers a longer one at once, so that no activity sleeps in a request. */
const WAIT_OUT_MS = 5_000;
/** The limiter adds up to this share of a hold at random, so that the workers do not all send when the hold ends. */
const SPREAD = 0.1;

/** Limits of one base address. */
export interface RequestLimiterOptions {
  readonly profile: ServiceProfile;
  readonly rate: SharedRate;
  readonly random?: () => number;
}

/**
 * Limits requests to one base address: concurrency, rate, and the time that the service asks to wait. A request that
 * may not leave ends as `not-sent` or `not-permitted`.
 */
export function createRequestLimiter({ profile, rate: shared, random = Math.random }: RequestLimiterOptions) {
  const slots = createSemaphore(profile.limits.maxConcurrency);
  const rate = new RateLimiter(shared);

  /** Waits until a request may leave. Returns null, or why the request may not leave. */
  async function admit(limits: PostLimits): Promise<ExchangeResult | null> {
    const { permit } = limits;
    const waiting = waitingSignal(limits);
    for (;;) {
      const held = rate.heldMs();
      if (held > WAIT_OUT_MS) return { kind: 'not-sent', code: 'retry-after-in-force', retryAfterMs: Math.ceil(held) };
      // oxlint-disable-next-line no-await-in-loop
      const wait = held > 0 ? held * (1 + random() * SPREAD) : await rate.reserve().catch(() => null);
      if (wait === null) return { kind: 'not-sent', code: 'rate-unavailable', retryAfterMs: null };
      // oxlint-disable-next-line no-await-in-loop
      if (!(await pause(wait, waiting))) return endOfWait(limits);
      if (held > 0) continue;
      // oxlint-disable-next-line no-await-in-loop
      if (permit !== undefined && !(await permit.confirm())) return { kind: 'not-permitted' };
      // An answer may have brought a hold during the wait: the request then gives its permit up and waits again.
      if (rate.heldMs() === 0) return null;
    }
  }

  return {
    async pass(send: () => Promise<ExchangeResult>, limits: PostLimits = {}): Promise<ExchangeResult> {
      const { signal, permit } = limits;
      const isOver = signal?.aborted === true || permit?.withdrawn.aborted === true;
      // A GET does not wait behind the POSTs of whole pages.
      const isGet = permit === undefined;
      const release = isOver ? null : (slots.tryAcquire() ?? (await slots.acquire(waitingSignal(limits), isGet)));
      if (release === null) return endOfWait(limits);
      try {
        const isFree = rate.isOpen() && (permit === undefined || permit.isValid());
        const turnedAway = isFree ? null : await admit(limits);
        if (turnedAway !== null) return turnedAway;
        const sentAt = performance.now();
        const end = await send();
        if (end.kind !== 'answer') return end;
        const { load, holdMs } = backoffOf(end, profile);
        if (holdMs !== null) rate.hold(holdMs);
        if (load !== null) rate.note(load, sentAt);
        return end;
      } finally {
        release();
      }
    },
  };
}

/** Returns the signal that ends a wait inside this process. A permit does not concern requests on the wire. */
function waitingSignal({ signal, permit }: PostLimits): AbortSignal | undefined {
  if (signal === undefined || permit === undefined) return signal ?? permit?.withdrawn;
  return AbortSignal.any([signal, permit.withdrawn]);
}

/** Says why a wait ended without a request. */
function endOfWait({ permit }: PostLimits): ExchangeResult {
  const isWithdrawn = permit?.withdrawn.aborted === true;
  return isWithdrawn ? { kind: 'not-permitted' } : { kind: 'not-sent', code: 'cancelled', retryAfterMs: null };
}

/** Waits for some milliseconds. Returns false if the signal was aborted first. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted === true) return false;
  if (ms <= 0) return true;
  return await new Promise((resolve) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
