import type { OutcomeCount } from '../domain/ports/ledger.ts';
import type { ConsoleLedger } from './console-options.ts';

/** The balance of a batch: from its last report where that tells it, counted else. */
export async function batchOutcomes(
  ledger: Pick<ConsoleLedger, 'reportedOutcomes' | 'countOutcomes'>,
  batchId: string,
): Promise<readonly OutcomeCount[]> {
  return (await ledger.reportedOutcomes(batchId)) ?? ledger.countOutcomes(batchId);
}
