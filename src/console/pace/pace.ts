import { OPEN_STATES } from '../../domain/invoice-state.ts';
import type { StateCounts } from '../pages/state-counts.ts';
import type { PaceSample } from './pace-samples.ts';

/** Over how long a rate is measured: shorter ones jump, longer ones do not notice that something changed. */
const WINDOW_MS = 60_000;
/** A sample that is older than this says nothing of the last minute. */
const OLDEST_MS = 2 * WINDOW_MS;
const SENT = ['accepted', 'issued', 'failed', 'rejected', 'unknown', 'unsettled'] as const;
const SETTLED = ['issued', 'failed', 'rejected'] as const;
const TO_SEND = [...SENT, 'staged', 'sending'] as const;

/** How fast a batch goes at this moment. */
export interface Pace {
  /** Settled invoices a second; null: not yet known. */
  readonly perSecond: number | null;
  /** Until all that waits is settled, at this rate; null: nothing moves, nothing is left, or it is not yet known. */
  readonly leftMs: number | null;
}

/** Numbers of invoices of a batch. */
export interface HowFar {
  readonly sent: number;
  readonly settled: number;
  /** That are to be sent at all. */
  readonly all: number;
  /** That the batch works on; what is unknown or unsettled may never be settled, so nobody can say when. */
  readonly left: number;
}

/** How far a batch is. */
export function howFar(counts: StateCounts): HowFar {
  const sum = (states: readonly (keyof StateCounts)[]) => states.reduce((total, state) => total + counts[state], 0);
  return { sent: sum(SENT), settled: sum(SETTLED), all: sum(TO_SEND), left: sum(OPEN_STATES) };
}

/** The pace of the last minute of a line, or of all of it when it is younger; unknown when nobody looked about a minute ago. */
export function paceOf(line: readonly PaceSample[], left: number): Pace {
  const last = line.at(-1);
  if (last === undefined) return { perSecond: 0, leftMs: null };
  const from = line.findLast(({ at }) => at <= last.at - WINDOW_MS) ?? line[0] ?? last;
  if (last.at - from.at > OLDEST_MS) return { perSecond: null, leftMs: null };
  const settled = Math.max(0, last.settled - from.settled);
  const perMs = last.at > from.at ? settled / (last.at - from.at) : 0;
  return { perSecond: perMs * 1_000, leftMs: perMs > 0 && left > 0 ? left / perMs : null };
}
