import { OPEN_STATES } from './invoice-state.ts';

const OPEN: ReadonlySet<string> = new Set(OPEN_STATES);

/** Number of settled invoices in a batch's counts by outcome: all that are not staged, sending or accepted. */
export function settledCount(counts: Readonly<Record<string, number>>): number {
  return Object.entries(counts).reduce((sum, [state, invoices]) => sum + (OPEN.has(state) ? 0 : invoices), 0);
}
