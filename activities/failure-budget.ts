import type { ActivityDeps } from './deps.ts';

/** Below this many answers a share says nothing. */
const FEWEST_ANSWERS = 50;

export interface Budget {
  readonly spent: boolean;
  readonly refused: number;
  readonly answers: number;
}

/** Whether the service refuses more of a batch than LOTE_FAILURE_BUDGET allows. */
export async function readBudget(deps: ActivityDeps, batchId: string): Promise<Budget> {
  const counts = await deps.ledger.countOutcomes(batchId);
  const of = (...outcomes: readonly string[]): number =>
    counts.reduce((sum, count) => sum + (outcomes.includes(count.outcome) ? count.invoices : 0), 0);
  const refused = of('rejected');
  const answers = refused + of('accepted', 'issued', 'failed', 'unsettled');
  return { spent: answers >= FEWEST_ANSWERS && refused > answers * deps.settings.failureBudget, refused, answers };
}

/** Holds the rest of a batch whose budget is spent. True when it did. */
export async function holdOverBudget(deps: ActivityDeps, batchId: string): Promise<boolean> {
  const { spent, refused, answers } = await readBudget(deps, batchId);
  if (!spent) return false;
  const message = `The service refused ${refused} of the first ${answers} invoices, more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the refusals, then drop the file again.`;
  await deps.ledger.holdUnsent(batchId, { reason: { code: 'failure-budget-spent', message }, now: deps.now() });
  return true;
}
