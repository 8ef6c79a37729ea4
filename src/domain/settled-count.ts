import { OPEN_STATES } from './invoice-state.ts';
import type { Ledger } from './ports/ledger.ts';

const OPEN: ReadonlySet<string> = new Set(OPEN_STATES);

/** Number of settled invoices in a batch's counts by outcome: all that are not staged, sending or accepted. */
export function settledCount(counts: Readonly<Record<string, number>>): number {
  return Object.entries(counts).reduce((sum, [state, invoices]) => sum + (OPEN.has(state) ? 0 : invoices), 0);
}

/**
 * Number of settled invoices of a batch, read from the ledger.
 * @throws LoteError `ledger-unavailable`
 */
export async function settledCountIn(ledger: Pick<Ledger, 'countOutcomes'>, batchId: string): Promise<number> {
  const counts = await ledger.countOutcomes(batchId);
  return counts.reduce((sum, { outcome, invoices }) => sum + (OPEN.has(outcome) ? 0 : invoices), 0);
}
