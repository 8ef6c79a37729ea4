import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { settledCount } from '../../domain/settled-count.ts';

/**
 * Number of settled invoices of a batch, read from the ledger.
 * @throws LoteError `ledger-unavailable`
 */
export async function settledCountIn(ledger: Pick<Ledger, 'countOutcomes'>, batchId: string): Promise<number> {
  const counts = await ledger.countOutcomes(batchId);
  // The ledger counts a state once for each currency.
  return counts.reduce((sum, { outcome, invoices }) => sum + settledCount({ [outcome]: invoices }), 0);
}
