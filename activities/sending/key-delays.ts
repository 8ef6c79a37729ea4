import type { Reason } from '../../src/domain/invoice.ts';

/** More than wait at the same time; beyond it those whose time has come are forgotten. */
const MOST_KEYS = 10_000;

interface KeyDelay {
  /** Epoch milliseconds. */
  readonly until: number;
  /** What the service answered. */
  readonly reason: Reason;
}

/** Until when the service wants no repeat of single keys. */
export interface KeyDelays {
  note(key: string, delay: KeyDelay, now: number): void;
  /** Null: the key may be repeated. */
  reasonToWait(key: string, now: number): Reason | null;
}

/**
 * A `Retry-After` on an answer about one key alone may be longer than a slice waits, and the rounds of its page come sooner. Kept in memory: another
 * process, or the same one after a restart, may ask earlier, and gets the same answer again.
 */
export function createKeyDelays(): KeyDelays {
  const delays = new Map<string, KeyDelay>();

  function forgetOver(now: number): void {
    for (const [key, { until }] of delays) if (until <= now) delays.delete(key);
  }

  return {
    note(key, delay, now) {
      if (delays.size >= MOST_KEYS) forgetOver(now);
      delays.set(key, delay);
    },
    reasonToWait(key, now) {
      const delay = delays.get(key);
      if (delay === undefined) return null;
      if (delay.until > now) return delay.reason;
      delays.delete(key);
      return null;
    },
  };
}
