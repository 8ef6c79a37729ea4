import type { TooMany } from '../../domain/request-rate.ts';

/** The last hundred answers count, older ones less and less. */
const FADING = 0.99;
/** One in eight refused, and ten at least: fewer may be somebody else's burst, for which the Retry-After is enough. */
const TOO_LARGE_A_SHARE = 1 / 8;
const TOO_MANY_TO_OVERLOOK = 10;
/** While the rate is throttled, each 429 can lower it again, at most once a second. */
const LOOK_AGAIN_MS = 1_000;
/** At a few requests a second, the answers of one second alone would never be enough to judge by. */
const HALF = 0.5;
const SECOND_MS = 1_000;

export interface NotedAnswer {
  readonly tooMany: boolean;
  readonly sentAt: number;
  readonly now: number;
  /** Whether the rate is below its limit already: then any 429 says that it is still too high. */
  readonly throttled: boolean;
}

export interface AnswerTally {
  /** Counts an answer; tells what to slow down by when it is time to, else null. */
  note(answer: NotedAnswer): TooMany | null;
}

/**
 * What this process hears of the service's limits. Answers to what left before the last change say nothing about it.
 */
export function createAnswerTally(): AnswerTally {
  let answers = 0;
  let refused = 0;
  let changedAt = Number.NEGATIVE_INFINITY;
  const taken = createLastSecond();

  return {
    note({ tooMany, sentAt, now, throttled }) {
      if (!tooMany) taken.add(now);
      if (sentAt <= changedAt) return null;
      answers = answers * FADING + 1;
      refused = refused * FADING + (tooMany ? 1 : 0);
      if (!tooMany) return null;
      const share = refused / answers;
      const due = throttled
        ? now - changedAt >= LOOK_AGAIN_MS
        : refused >= TOO_MANY_TO_OVERLOOK && share > TOO_LARGE_A_SHARE;
      if (!due) return null;
      const found = { taken: taken.count(now), share, answers };
      changedAt = now;
      // Slowed for the first time, it begins anew: what was refused at full speed says nothing of the new one.
      const remembered = throttled ? HALF : 0;
      answers *= remembered;
      refused *= remembered;
      return found;
    },
  };
}

/** How many there were in the last second: this second's, and of the one before the part that it still covers. */
function createLastSecond(): { add(now: number): void; count(now: number): number } {
  let second = 0;
  let current = 0;
  let before = 0;

  function turn(now: number): void {
    const at = Math.floor(now / SECOND_MS);
    if (at === second) return;
    before = at === second + 1 ? current : 0;
    current = 0;
    second = at;
  }

  return {
    add(now) {
      turn(now);
      current += 1;
    },
    count(now) {
      turn(now);
      return current + before * (1 - (now % SECOND_MS) / SECOND_MS);
    },
  };
}
