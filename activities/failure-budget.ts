import type { ActivityDeps } from './deps.ts';

/** Below this many answers a share says nothing. */
const FEWEST_ANSWERS = 50;

/** Holds the rest of a batch when the service refuses more of it than the budget allows. True when it did. */
export async function overBudget(deps: ActivityDeps, batchId: string): Promise<boolean> {
  const counts = await deps.ledger.countOutcomes(batchId);
  const of = (...outcomes: readonly string[]): number =>
    counts.reduce((sum, count) => sum + (outcomes.includes(count.outcome) ? count.invoices : 0), 0);
  const refused = of('rejected');
  const answers = refused + of('accepted', 'issued', 'failed', 'unsettled');
  if (answers < FEWEST_ANSWERS || refused <= answers * deps.settings.failureBudget) return false;
  const message = `The service refused ${refused} of the first ${answers} invoices, more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the refusals, then drop the file again.`;
  await deps.ledger.holdUnsent(batchId, { reason: { code: 'failure-budget-spent', message }, now: deps.now() });
  return true;
}
