import type { AnswerCounts } from '../../../src/domain/answer-counts.ts';
import { failureShare, largestFailureShare } from '../../../src/domain/failure-share.ts';
import type { FencingToken } from '../../../src/domain/ports/ledger/batch-record.ts';
import { countAnswers } from '../count-answers.ts';
import { pollStatuses } from '../../settling/poll-statuses.ts';
import type { ActivityDeps } from '../../deps.ts';

/** The batch whose budget is judged. */
export interface BudgetedBatch {
  readonly batchId: string;
  readonly fencingToken?: FencingToken;
  /** What was said before the round began: an operator has seen it, and sends the rest all the same. */
  readonly before?: AnswerCounts | undefined;
}

export interface Budget {
  readonly spent: boolean;
  readonly refused: number;
  readonly answers: number;
  readonly failed: number;
  /** Issued and failed. */
  readonly finalWords: number;
}

/** Reported failures that one look asks for. */
const MOST_CONFIRMED = 500;
/** A look at a slow service ends after this; the next one goes on. */
const LONGEST_CONFIRMATION_MS = 5_000;

/** Whether the service refuses and fails more of a batch than LOTE_FAILURE_BUDGET allows, by what is known for certain. */
export async function readBudget(deps: ActivityDeps, batch: BudgetedBatch): Promise<Budget> {
  return budgetOf(deps, await answersOf(deps, batch));
}

/**
 * The same, and reported failures count as well: a signed event alone does not hold a batch, so they are first confirmed by GET. Nobody is asked while the
 * budget would not be spent even if all of them were true, and they are not counted while it would not be spent by all that may have been reported: to find
 * them, the events of each invoice without a final word are looked up. `counted` hears when the ledger was read, before the service is asked.
 */
export async function isBudgetSpent(deps: ActivityDeps, batch: BudgetedBatch, counted: () => void): Promise<boolean> {
  if (!(await mayBeSpent(deps, batch))) {
    counted();
    return false;
  }
  const counts = await answersOf(deps, batch);
  if (budgetOf(deps, counts).spent) return true;
  // No more can be reported than wait for a final word; those of before the round are not in the counts.
  const waiting = counts.pending + (batch.before?.pending ?? 0);
  if (!budgetOf(deps, { ...counts, failed: counts.failed + waiting }).spent) {
    counted();
    return false;
  }
  const { reported, invoices } = await deps.ledger.reportedFailures(batch.batchId, MOST_CONFIRMED);
  counted();
  if (!budgetOf(deps, { ...counts, failed: counts.failed + reported }).spent) return false;
  await pollStatuses(deps, invoices, deps.now() + LONGEST_CONFIRMATION_MS);
  return (await readBudget(deps, batch)).spent;
}

/** To count a batch is to read all of it: nobody does while it cannot have gone wrong often enough. */
async function mayBeSpent({ ledger, settings }: ActivityDeps, { batchId }: BudgetedBatch): Promise<boolean> {
  return largestFailureShare(await ledger.mostFailures(batchId)) > settings.failureBudget;
}

/** Holds the rest of a batch whose budget is spent. True when it did. */
export async function holdOverBudget(deps: ActivityDeps, batch: BudgetedBatch): Promise<boolean> {
  const budget = await readBudget(deps, batch);
  if (!budget.spent) return false;
  const { batchId, fencingToken } = batch;
  const reason = { code: 'failure-budget-spent', message: sentenceOf(budget) };
  await deps.ledger.holdUnsent(batchId, { reason, now: deps.now(), fencingToken });
  return true;
}

/** Of the whole batch, also when a slice of it asks. */
function answersOf(deps: ActivityDeps, { batchId, before }: BudgetedBatch): Promise<AnswerCounts> {
  return countAnswers(deps, { batchId, before });
}

function budgetOf({ settings }: Pick<ActivityDeps, 'settings'>, counts: AnswerCounts): Budget {
  const { refused, accepted, issued, failed } = counts;
  const spent = failureShare(counts) > settings.failureBudget;
  return { spent, refused, answers: refused + accepted, failed, finalWords: issued + failed };
}

function sentenceOf({ refused, answers, failed, finalWords }: Budget): string {
  const rest = 'than LOTE_FAILURE_BUDGET allows. The rest was not sent';
  if (failed === 0)
    return `The service refused ${refused} of the first ${answers} invoices, more ${rest}: look at the refusals, then drop the file again.`;
  if (refused === 0)
    return `The service failed ${failed} of the first ${finalWords} invoices that it called issued or failed, more ${rest}: look at the failures, then drop the file again.`;
  return `The service refused ${refused} of the first ${answers} invoices and failed ${failed} of the first ${finalWords} that it called issued or failed, together more ${rest}: look at the refusals and failures, then drop the file again.`;
}
