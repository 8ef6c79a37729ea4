import { leftOfHold } from '../../domain/request-rate.ts';
import type { PostLimits } from '../../domain/ports/invoicing-service.ts';
import { createAnswerTally } from './answer-tally.ts';
import type { ExchangeResult } from '../exchange-result.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { HOLDING_STATUSES } from './retry-after.ts';
import { pause } from './pause.ts';
import { createSemaphore, type Semaphore } from '../../concurrency/semaphore.ts';

/**
 * A shorter hold is waited out here; a longer one is answered at once, so that no activity sleeps for minutes in a
 * request.
 */
const WAIT_OUT_MS = 5_000;

/**
 * Up to this share of a hold is added, at random: without it all workers would send in the same instant when it ends.
 */
const SPREAD = 0.1;

const TOO_MANY = 429;
/** From here on the service has its own trouble: such an answer does not prove that it took the request. */
const SERVER_TROUBLE = 500;

export interface RequestLimiterOptions {
  readonly maxConcurrency: number;
  readonly requestsPerSecond: number | null;
  readonly now: () => number;
  readonly random: () => number;
  /** Shared with other processes; default: this process's own. */
  readonly rateLimiter?: RateLimiter;
  readonly slots?: Pick<Semaphore, 'acquire' | 'tryAcquire'>;
}

/**
 * Limits the requests of this process to one base address: concurrency, the adaptive rate (AIMD), and the service's own
 * Retry-After.
 */
export interface RequestLimiter {
  pass(send: () => Promise<ExchangeResult>, limits?: PostLimits): Promise<ExchangeResult>;
}

/**
 * Makes the request limiter of one base address. A request that may not leave ends as `not-sent` or `not-permitted`.
 */
export function createRequestLimiter(options: RequestLimiterOptions): RequestLimiter {
  const slots = options.slots ?? createSemaphore(options.maxConcurrency);
  const rateLimiter = options.rateLimiter ?? createRateLimiter(options.requestsPerSecond);
  const tally = createAnswerTally();

  /** Nearly every request of a service without a rate: nothing is to be waited for, and no promise is made for it. */
  function mayLeave({ permit }: PostLimits): boolean {
    return rateLimiter.isOpen(options.now()) && (permit === undefined || permit.isValid());
  }

  async function admitted({ signal, permit }: PostLimits): Promise<ExchangeResult | null> {
    const waiting = waitingSignal({ signal, permit });
    const givenUp = (): ExchangeResult => (permit?.withdrawn.aborted === true ? notPermitted() : cancelled());
    for (;;) {
      const held = leftOfHold(rateLimiter.heldUntil(), options.now());
      if (held > WAIT_OUT_MS) return { kind: 'not-sent', code: 'retry-after-in-force', retryAfterMs: held };
      if (held > 0) {
        // oxlint-disable-next-line no-await-in-loop
        if (!(await pause(held * (1 + options.random() * SPREAD), waiting))) return givenUp();
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop
      const wait = await reservePermit();
      if (wait === null) return { kind: 'not-sent', code: 'rate-unavailable', retryAfterMs: null };
      // oxlint-disable-next-line no-await-in-loop
      if (!(await pause(wait, waiting))) return givenUp();
      // oxlint-disable-next-line no-await-in-loop
      if (permit !== undefined && !(await permit.confirm())) return notPermitted();
      // Another answer may have brought a hold during the wait, or prolonged it: a permit before its end is given up.
      if (leftOfHold(rateLimiter.heldUntil(), options.now()) === 0) return null;
    }
  }

  /** How long to wait, in milliseconds; null: the shared rate limiter cannot be reached, so that nothing may leave. */
  async function reservePermit(): Promise<number | null> {
    try {
      return await rateLimiter.reserve(options.now());
    } catch {
      return null;
    }
  }

  function heed(answer: Extract<ExchangeResult, { kind: 'answer' }>, sentAt: number): void {
    const now = options.now();
    const { status, retryAfterMs } = answer;
    if (retryAfterMs !== null && HOLDING_STATUSES.has(status)) rateLimiter.hold(now + retryAfterMs, now);
    if (status >= SERVER_TROUBLE) return;
    const tooMany = tally.note({ tooMany: status === TOO_MANY, sentAt, now, throttled: rateLimiter.throttled(now) });
    if (tooMany !== null) rateLimiter.slowDown(tooMany, now);
  }

  return {
    async pass(send, limits = {}) {
      const isOver = limits.signal?.aborted === true || limits.permit?.withdrawn.aborted === true;
      const release = isOver ? null : (slots.tryAcquire() ?? (await slots.acquire(waitingSignal(limits))));
      if (release === null) return limits.permit?.withdrawn.aborted === true ? notPermitted() : cancelled();
      try {
        const turnedAway = mayLeave(limits) ? null : await admitted(limits);
        if (turnedAway !== null) return turnedAway;
        const sentAt = options.now();
        const end = await send();
        if (end.kind === 'answer') heed(end, sentAt);
        return end;
      } finally {
        release();
      }
    },
  };
}

/** Ends a wait inside this process; what is on the wire is not concerned by a permit. */
function waitingSignal({ signal, permit }: PostLimits): AbortSignal | undefined {
  if (signal === undefined || permit === undefined) return signal ?? permit?.withdrawn;
  return AbortSignal.any([signal, permit.withdrawn]);
}

function cancelled(): ExchangeResult {
  return { kind: 'not-sent', code: 'cancelled', retryAfterMs: null };
}

function notPermitted(): ExchangeResult {
  return { kind: 'not-permitted' };
}
