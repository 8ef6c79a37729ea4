import { latestClock } from './steady-clock.ts';

/** Clocks that are set (NTP) differ by less than a second, also when they are stepped; so much is said. */
const SAID_FROM_MS = 30_000;

/**
 * Tells the time for one question: for how long at least has a key been in use? Epoch milliseconds. For judging only;
 * what is stored has the time of the clock.
 */
export interface ServiceClock {
  /**
   * Never too early: a clock that is set back does not lower it. Where an earlier process may have used the key first
   * (`since`), it is no earlier than an answer of the service has said. Without `since`, only this machine's clock
   * counts.
   */
  latestNow(since?: number): number;
  /** An answer of the service has come, with this time in its head; null: with none. */
  heard(at: number | null): void;
  /** Resolved with the first answer, also one that names no time. */
  readonly answered: Promise<void>;
  /** Whether an answer must come before a key is repeated that was first used at that time: it may name a later time than this machine has. */
  mustHear(since: number): boolean;
  /** When this ledger has sent before this process did, by the clock of that time. Only the first call counts. */
  sentBefore(at: number): void;
}

/** What the clock goes by; left out: this machine's clocks. */
export interface ServiceClockParts {
  readonly latest?: () => number;
  readonly monotonic?: () => number;
  /** Called once, with how far the service's clock is ahead in milliseconds, if that is more than clocks may differ. */
  readonly onBehind?: (aheadMs: number) => void;
}

/**
 * The service forgets keys by its own clock. Where this machine's clock was behind when the process started, keys of earlier processes look younger than
 * they are, and the time that answers name puts that right. Keys of this process are judged by this machine alone: it has measured their age, and a service
 * whose clock is wrong must not make them older.
 */
export function createServiceClock({
  latest = latestClock(),
  monotonic = () => performance.now(),
  onBehind = () => undefined,
}: ServiceClockParts = {}): ServiceClock {
  const startedAt = latest();
  let sentUntil: number | null = null;
  let anchor: { readonly at: number; readonly steady: number } | null = null;
  let hasWarned = false;
  let hasAnswered = false;
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));

  /** A mark of sending that is later than the start shows that the clock was behind then, or ahead before. */
  const isEarlier = (since: number): boolean => since <= Math.max(startedAt, sentUntil ?? 0);

  /** The later one of this machine's time and the time that answers of the service have named. */
  function serviceNow(): number {
    const own = latest();
    return anchor === null ? own : Math.max(own, Math.floor(anchor.at + monotonic() - anchor.steady));
  }

  function latestNow(since?: number): number {
    return since !== undefined && isEarlier(since) ? serviceNow() : latest();
  }

  return {
    latestNow,
    answered,
    mustHear: (since) => !hasAnswered && isEarlier(since),
    sentBefore(at) {
      sentUntil ??= at;
    },
    heard(at) {
      if (at !== null) {
        const ahead = at - latest();
        if (ahead > SAID_FROM_MS && !hasWarned) {
          hasWarned = true;
          onBehind(ahead);
        }
        if (at > serviceNow()) anchor = { at, steady: monotonic() };
      }
      hasAnswered = true;
      answer();
    },
  };
}
