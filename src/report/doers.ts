import type { Outcome } from '../domain/invoice-state.ts';

/** Who has to do something about an invoice: the one who made the file, the one who runs Lote, or nobody but Lote itself. */
export type Doer = 'back-office' | 'operator' | 'lote';

/** In the order of their urgency: what waits for a person comes before what Lote does alone. */
export const DOERS: readonly Doer[] = ['back-office', 'operator', 'lote'];

/** Who has to do something about the invoices of a state; null: they went out. What it is stands in the texts of the report. */
export const DOER_OF: Readonly<Record<Outcome, Doer | null>> = {
  issued: null,
  'already-issued': null,
  invalid: 'back-office',
  rejected: 'back-office',
  failed: 'back-office',
  conflict: 'back-office',
  held: 'operator',
  // Lote repeats most of them, and not for ever: whoever waits for Lote alone may wait in vain.
  unknown: 'operator',
  unsettled: 'lote',
  staged: 'lote',
  sending: 'lote',
  accepted: 'lote',
};

/** Order of the states wherever all of them are shown: what went out, what is under way, what needs somebody. */
export const STATE_ORDER: readonly Outcome[] = [
  'issued',
  'already-issued',
  'accepted',
  'sending',
  'staged',
  'unsettled',
  'unknown',
  'held',
  'failed',
  'rejected',
  'conflict',
  'invalid',
];
