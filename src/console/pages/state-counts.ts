import type { Outcome } from '../../domain/invoice-state.ts';
import { everyCountByOutcome, issuedCount } from '../../domain/outcome-counts.ts';
import type { BatchRecord, OutcomeCount } from '../../domain/ports/ledger/batch-record.ts';

/** Numbers of invoices by outcome; every outcome has an entry. */
export type StateCounts = Readonly<Record<Outcome, number>>;

/** Order in which states are shown: those that need an operator, those under way, those that went out. */
export const STATE_ORDER: readonly Outcome[] = [
  'invalid',
  'rejected',
  'failed',
  'conflict',
  'held',
  'unknown',
  'unsettled',
  'staged',
  'sending',
  'accepted',
  'issued',
  'already-issued',
];

const TONES: Readonly<Record<Outcome, 'good' | 'under-way' | 'open' | 'bad'>> = {
  issued: 'good',
  'already-issued': 'good',
  staged: 'under-way',
  sending: 'under-way',
  accepted: 'under-way',
  held: 'open',
  unknown: 'open',
  unsettled: 'open',
  invalid: 'bad',
  rejected: 'bad',
  failed: 'bad',
  conflict: 'bad',
};

/** Tone in which a state is shown: done, under way, open for an operator, or wrong. */
export function toneOf(state: Outcome): 'good' | 'under-way' | 'open' | 'bad' {
  return TONES[state];
}

/** Invoices by state over all currencies. */
export function stateCounts(counts: readonly OutcomeCount[]): StateCounts {
  return everyCountByOutcome(counts);
}

/** States in which an invoice needs an operator, now or after Lote has polled again. */
export const PROBLEM_STATES: readonly Outcome[] = STATE_ORDER.filter(
  (state) => TONES[state] === 'bad' || TONES[state] === 'open',
);

/** Numbers of invoices that are not confirmed as issued: those that need an operator, and, of a closed batch, all others. */
export interface NotOut {
  readonly problems: number;
  /**
   * Staged, being sent, or accepted: reconciliation has repeated an `unknown` one, or another batch sends it again. 0 while the batch runs, for then
   * its progress says it.
   */
  readonly underWay: number;
}

/** What of a batch did not go out. Of a closed one it is all that neither this batch nor an earlier one has issued, whatever its state. */
export function notOutOf({ state, invoices }: Pick<BatchRecord, 'state' | 'invoices'>, counts: StateCounts): NotOut {
  const problems = PROBLEM_STATES.reduce((sum, one) => sum + counts[one], 0);
  if (state !== 'finished' && state !== 'cancelled') return { problems, underWay: 0 };
  return { problems, underWay: invoices - issuedCount(counts) - problems };
}
