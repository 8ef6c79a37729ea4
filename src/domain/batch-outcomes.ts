import type { OutcomeCount } from './ports/ledger/batch-record.ts';
import type { Ledger } from './ports/ledger/ledger.ts';

/** The balance of a batch: from its last report where that tells it, counted else. */
export async function batchOutcomes(
  ledger: Pick<Ledger, 'reportedOutcomes' | 'countOutcomes'>,
  batchId: string,
): Promise<readonly OutcomeCount[]> {
  return (await ledger.reportedOutcomes(batchId)) ?? ledger.countOutcomes(batchId);
}
