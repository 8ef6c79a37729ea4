import { ISSUED_OUTCOMES, OPEN_STATES, OUTCOMES, type Outcome } from './invoice-state.ts';
import type { OutcomeCount } from './ports/ledger/batch-record.ts';

const OPEN: ReadonlySet<string> = new Set(OPEN_STATES);

/** Number of settled invoices in a batch's counts by outcome: all that are not staged, sending or accepted. */
export function settledCount(counts: Readonly<Record<string, number>>): number {
  return Object.entries(counts).reduce((sum, [state, invoices]) => sum + (OPEN.has(state) ? 0 : invoices), 0);
}

/** Numbers of invoices by outcome; the ledger counts an outcome once for each currency. An outcome without an invoice has no entry. */
export function countsByOutcome(
  counts: readonly Pick<OutcomeCount, 'outcome' | 'invoices'>[],
): Partial<Record<Outcome, number>> {
  const byOutcome: Partial<Record<Outcome, number>> = {};
  for (const { outcome, invoices } of counts) byOutcome[outcome] = (byOutcome[outcome] ?? 0) + invoices;
  return byOutcome;
}

/** As `countsByOutcome`, with 0 for each outcome without an invoice. */
export function everyCountByOutcome(
  counts: readonly Pick<OutcomeCount, 'outcome' | 'invoices'>[],
): Record<Outcome, number> {
  const none = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  return { ...none, ...countsByOutcome(counts) };
}

/** Number of invoices of which a document exists. A missing entry is 0. */
export function issuedCount(counts: { readonly [State in Outcome]?: number | undefined }): number {
  return ISSUED_OUTCOMES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}
