import type { HttpEnd } from './http-end.ts';
import { createPace, type Pace } from './pace.ts';
import { pause } from './pause.ts';
import { createSemaphore, type Semaphore } from './semaphore.ts';

/** A shorter hold is waited out here; a longer one is answered at once, so that no activity sleeps for minutes in a request. */
const WAIT_OUT_MS = 5_000;

/** Woken up together, all workers would knock in one instant: up to a tenth of the hold is added, at random. */
const SPREAD = 0.1;

/** A Retry-After on these speaks of the service as a whole; on a 409 it speaks of one key. */
const HOLDING = new Set([425, 429, 500, 502, 503, 504]);

const TOO_MANY = 429;

export interface GateOptions {
  readonly maxConcurrency: number;
  readonly requestsPerSecond: number | null;
  readonly now: () => number;
  readonly random: () => number;
  /** Shared with other processes; default: this process's own. */
  readonly pace?: Pace;
  readonly slots?: Semaphore;
  /** The service said 429. */
  readonly onTooMany?: () => void;
}

/** What every request of this process to one base address passes: concurrency, rate, and the service's own Retry-After. */
export interface Gate {
  pass(send: () => Promise<HttpEnd>, signal: AbortSignal | undefined): Promise<HttpEnd>;
}

export function createGate(options: GateOptions): Gate {
  const slots = options.slots ?? createSemaphore(options.maxConcurrency);
  const pace = options.pace ?? createPace(options.requestsPerSecond);
  let heldUntil = 0;

  async function admitted(signal: AbortSignal | undefined): Promise<HttpEnd | null> {
    // Asked again after each wait: another answer may have prolonged the hold meanwhile.
    for (let held = heldUntil - options.now(); held > 0; held = heldUntil - options.now()) {
      if (held > WAIT_OUT_MS) return { kind: 'not-sent', code: 'retry-after-in-force', retryAfterMs: held };
      // oxlint-disable-next-line no-await-in-loop
      if (!(await pause(held * (1 + options.random() * SPREAD), signal))) return cancelled();
    }
    const wait = await place();
    if (wait === null) return { kind: 'not-sent', code: 'pace-unavailable', retryAfterMs: null };
    return (await pause(wait, signal)) ? null : cancelled();
  }

  /** Null: whoever keeps the row of all processes cannot be reached, so that nothing may leave. */
  async function place(): Promise<number | null> {
    try {
      return await pace.reserve(options.now());
    } catch {
      return null;
    }
  }

  return {
    async pass(send, signal) {
      const release = await slots.acquire(signal);
      if (release === null) return cancelled();
      try {
        const turnedAway = await admitted(signal);
        if (turnedAway !== null) return turnedAway;
        const end = await send();
        if (end.kind === 'answer' && end.status === TOO_MANY) options.onTooMany?.();
        if (end.kind === 'answer' && end.retryAfterMs !== null && HOLDING.has(end.status)) {
          heldUntil = Math.max(heldUntil, options.now() + end.retryAfterMs);
        }
        return end;
      } finally {
        release();
      }
    },
  };
}

function cancelled(): HttpEnd {
  return { kind: 'not-sent', code: 'cancelled', retryAfterMs: null };
}
