import type { FencingToken } from '../../../src/domain/ports/ledger/batch-record.ts';
import type { ActivityDeps } from '../../deps.ts';

/** A share of fewer invoices says nothing: a batch of three may need more tries for one of them than a large one needs for each. */
const FEWEST_INVOICES = 50;

/**
 * POSTs that had to be repeated, over all invoices of a batch since its run began or an operator last had some sent again, against `retry.repeatsPerInvoice` of the service profile; tries behind an
 * open breaker are not counted. A service that takes so many tries is broken in a way that the breaker does not see, because some get through:
 * nothing more is sent. True when it was spent, and what was not sent is held.
 */
export async function holdOverRetries(
  deps: ActivityDeps,
  { batchId, fencingToken }: { readonly batchId: string; readonly fencingToken?: FencingToken },
  repeats: number,
): Promise<boolean> {
  if (repeats === 0) return false;
  const spent = await deps.ledger.addRepeats(batchId, repeats);
  const batch = await deps.ledger.findBatch(batchId);
  const budget = Math.ceil(Math.max(batch?.invoices ?? 0, FEWEST_INVOICES) * deps.settings.retry.repeatsPerInvoice);
  if (spent <= budget) return false;
  const message = `The batch has repeated ${spent} POSTs, more than the ${budget} that retry.repeatsPerInvoice of the service profile allows. The rest was not sent: look at the service's answers, then drop the file again.`;
  const reason = { code: 'retry-budget-spent', message };
  await deps.ledger.holdUnsent(batchId, { reason, now: deps.now(), fencingToken });
  deps.log.warn('the retry budget of a batch is spent', { batchId, repeats: spent, budget });
  return true;
}
