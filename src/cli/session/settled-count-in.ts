import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { countsByOutcome, settledCount } from '../../domain/outcome-counts.ts';

/**
 * Number of settled invoices of a batch, read from the ledger.
 * @throws LoteError `ledger-unavailable`
 */
export async function settledCountIn(ledger: Pick<Ledger, 'countOutcomes'>, batchId: string): Promise<number> {
  return settledCount(countsByOutcome(await ledger.countOutcomes(batchId)));
}
