import type { FileShortfall } from '../../domain/batch-outcomes.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { issuedCount } from '../../domain/outcome-counts.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import { STATE_ORDER, toneOf, type Tone } from '../../texts/outcomes/outcome-html.ts';

/** Numbers of invoices by outcome; every outcome has an entry. */
export type StateCounts = Readonly<Record<Outcome, number>>;

/** States in which an invoice needs an operator, now or after Lote has polled again. */
export const PROBLEM_STATES: readonly Outcome[] = STATE_ORDER.filter(
  (state) => toneOf(state) === 'bad' || toneOf(state) === 'open',
);

/** Numbers of invoices not confirmed as issued: those that need an operator and, in a closed batch, all the rest. */
export interface NotOut {
  readonly problems: number;
  /** Staged, being sent or accepted, in a closed batch; 0 while the batch runs, because its progress shows them. */
  readonly underWay: number;
}

/** Counts the invoices of a batch that did not go out. In a closed batch: all that neither this batch nor an earlier one has issued, in any state. */
export function notOutOf({ state, invoices }: Pick<BatchRecord, 'state' | 'invoices'>, counts: StateCounts): NotOut {
  const problems = PROBLEM_STATES.reduce((sum, one) => sum + counts[one], 0);
  if (state !== 'finished' && state !== 'cancelled') return { problems, underWay: 0 };
  return { problems, underWay: invoices - issuedCount(counts) - problems };
}

/** Returns the colour of a batch from its state and from open or under-way invoices of a finished batch. A totals row does not count as open. */
export function batchTone(
  { state }: BatchRecord,
  { problems, underWay }: NotOut,
  { rowsLost, totalsDiffer, contradicted }: FileShortfall,
): Tone {
  if (state === 'refused' || contradicted > 0) return 'bad';
  if (state === 'paused' || state === 'cancelled') return 'open';
  if (state !== 'finished') return 'under-way';
  if (problems > 0 || rowsLost > 0 || totalsDiffer !== null) return 'open';
  return underWay > 0 ? 'under-way' : 'good';
}

/** Returns true if the batch may look different in two seconds. */
export function isLive({ state }: BatchRecord): boolean {
  return state === 'staging' || state === 'running' || state === 'paused';
}
