import type { StateCounts } from '../pages/state-counts.ts';
import type { PaceSample } from './pace-samples.ts';

/** Over how long a rate is measured: shorter ones jump, longer ones do not notice that something changed. */
const WINDOW_MS = 60_000;
const SENT = ['accepted', 'issued', 'failed', 'rejected', 'unknown', 'unsettled'] as const;
const SETTLED = ['issued', 'failed', 'rejected'] as const;
const TO_SEND = [...SENT, 'staged', 'sending'] as const;

/** How fast a batch goes at this moment. */
export interface Pace {
  /** Settled invoices a second. */
  readonly perSecond: number;
  /** Until all that can be settled is, at this rate; null: nothing moves, or nothing is left. */
  readonly leftMs: number | null;
}

/** What of a batch is sent and settled, of how many that are to be sent at all. */
export function howFar(counts: StateCounts): { readonly sent: number; readonly settled: number; readonly all: number } {
  const sum = (states: readonly (keyof StateCounts)[]) => states.reduce((total, state) => total + counts[state], 0);
  return { sent: sum(SENT), settled: sum(SETTLED), all: sum(TO_SEND) };
}

/** The pace of the last minute of a line, or of all of it when it is shorter. */
export function paceOf(line: readonly PaceSample[], all: number): Pace {
  const last = line.at(-1);
  if (last === undefined) return { perSecond: 0, leftMs: null };
  const from = line.findLast(({ at }) => at <= last.at - WINDOW_MS) ?? line[0] ?? last;
  const settled = Math.max(0, last.settled - from.settled);
  const perMs = last.at > from.at ? settled / (last.at - from.at) : 0;
  const left = all - last.settled;
  return { perSecond: perMs * 1_000, leftMs: perMs > 0 && left > 0 ? left / perMs : null };
}
