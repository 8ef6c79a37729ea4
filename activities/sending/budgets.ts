import { answersSince, type AnswerCounts, failureShare, largestFailureShare } from '../../src/domain/answer-counts.ts';
import type { ActivityDeps } from '../deps.ts';
import { pollStatuses } from '../settling/poll-statuses.ts';
import type { FencingToken } from '../../src/domain/records/batch-record.ts';

/** The invoices whose answers are counted: a whole batch, or a range of its ordinals. */
export interface CountedInvoices {
  readonly batchId: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Answers from before the round began, which do not count. Optional: the default is none. */
  readonly before?: AnswerCounts | undefined;
}

/** Counts the service's answers to the invoices. Failures that the retry policy sends again count separately. */
export async function countAnswers(
  { ledger, settings }: Pick<ActivityDeps, 'ledger' | 'settings'>,
  { batchId, from, to, before }: CountedInvoices,
): Promise<AnswerCounts> {
  const { failedReasonCodes: retryableCodes, maxGenerations } = settings.retry;
  return answersSince(await ledger.countAnswers(batchId, { retryableCodes, maxGenerations, from, to }), before);
}

/** The batch whose budget is judged. */
export interface BudgetedBatch {
  readonly batchId: string;
  readonly fencingToken?: FencingToken;
  /** Answers from before the round began. They do not count: an operator has seen them and sends the rest. */
  readonly before?: AnswerCounts | undefined;
}

/** Most reported failures that one look polls. */
const MOST_CONFIRMED = 500;
/** Time limit of one look at a slow service. The next look continues. */
const LONGEST_CONFIRMATION_MS = 5_000;

/** Returns the failure budget. It is spent if the share of confirmed refusals and failures is above LOTE_FAILURE_BUDGET. */
export async function readBudget(deps: ActivityDeps, batch: BudgetedBatch) {
  return budgetOf(deps, await answersOf(deps, batch));
}

/**
 * Returns whether the budget is spent. Reported failures count, but a signed event alone must not hold a batch: Lote
 * first confirms them by GET, unless the budget would not be spent even with all of them.
 */
export async function isBudgetSpent(deps: ActivityDeps, batch: BudgetedBatch): Promise<boolean> {
  if (!(await mayBeSpent(deps, batch))) return false;
  const counts = await answersOf(deps, batch);
  if (budgetOf(deps, counts).spent) return true;
  const { reported, invoices } = await deps.ledger.reportedFailures(batch.batchId, MOST_CONFIRMED);
  if (!budgetOf(deps, { ...counts, failed: counts.failed + reported }).spent) return false;
  await pollStatuses(deps, invoices, deps.now() + LONGEST_CONFIRMATION_MS);
  return (await readBudget(deps, batch)).spent;
}

/** Counting reads the whole batch, so Lote does not count before enough invoices can have failed. */
async function mayBeSpent({ ledger, settings }: ActivityDeps, { batchId }: BudgetedBatch): Promise<boolean> {
  return largestFailureShare(await ledger.mostFailures(batchId)) > settings.failureBudget;
}

/** Holds the rest of a batch whose budget is spent. Returns true if it did. */
export async function holdOverBudget(deps: ActivityDeps, batch: BudgetedBatch): Promise<boolean> {
  const budget = await readBudget(deps, batch);
  if (!budget.spent) return false;
  const { batchId, fencingToken } = batch;
  const reason = { code: 'failure-budget-spent', message: sentenceOf(budget) };
  await deps.ledger.holdUnsent(batchId, { reason, now: deps.now(), fencingToken });
  return true;
}

/** Counts the whole batch, even when a slice asks. */
function answersOf(deps: ActivityDeps, { batchId, before }: BudgetedBatch): Promise<AnswerCounts> {
  return countAnswers(deps, { batchId, before });
}

/** `answers`: number of answers to POSTs; `finalWords`: number of issued and failed invoices. */
function budgetOf({ settings }: Pick<ActivityDeps, 'settings'>, counts: AnswerCounts) {
  const { refused, accepted, issued, failed } = counts;
  const spent = failureShare(counts) > settings.failureBudget;
  return { spent, refused, answers: refused + accepted, failed, finalWords: issued + failed };
}

function sentenceOf({ refused, answers, failed, finalWords }: ReturnType<typeof budgetOf>): string {
  return `The service refused ${refused} of the first ${answers} invoices and failed ${failed} of the first ${finalWords} that it called issued or failed, together more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the refusals and failures, then drop the file again.`;
}

/** A slice reads the budget for the first time at this refusal, because counting costs time. */
const FIRST_READ = 16;
/** Shortest time between two counts of a batch. */
const POLL_INTERVAL_MS = 1_000;
/** A pause is this many times as long as the look before it, so that looks take at most a sixth of the time, however large the batch is. */
const REST_PER_LOOK = 5;

/** Watches the failures of a batch while one slice of it sends. */
export type FailureWatch = ReturnType<ReturnType<typeof createFailureWatches>>;

/** Creates the failure watches of a process. The slices of a batch share their looks. */
export function createFailureWatches() {
  const batches = new Map<string, { slices: number; nextLook: number; isLooking: boolean; spent: boolean }>();

  return (deps: ActivityDeps, batch: BudgetedBatch) => {
    const { batchId } = batch;
    const begun = { slices: 0, nextLook: deps.now() + POLL_INTERVAL_MS, isLooking: false, spent: false };
    const watched = batches.get(batchId) ?? begun;
    batches.set(batchId, watched);
    watched.slices += 1;

    return {
      /** True when a look of this process found the budget spent: the slice must stop. */
      get spent() {
        return watched.spent;
      },
      /** Called after an answer. Looks if the pause is over and no other slice of the batch is looking. */
      async look(): Promise<void> {
        const began = deps.now();
        if (watched.spent || watched.isLooking || began < watched.nextLook) return;
        watched.isLooking = true;
        try {
          watched.spent = await isBudgetSpent(deps, batch);
        } finally {
          watched.isLooking = false;
          watched.nextLook = deps.now() + Math.max(POLL_INTERVAL_MS, (deps.now() - began) * REST_PER_LOOK);
        }
      },
      /** Called after the nth refusal of a slice. Reads the budget at the 16th refusal and at each doubling. */
      async refused(nth: number): Promise<void> {
        if (nth >= FIRST_READ && Number.isInteger(Math.log2(nth)))
          watched.spent ||= (await readBudget(deps, batch)).spent;
      },
      /** Called at the end of the slice. If the budget is spent, holds the rest and returns true. */
      async hold(): Promise<boolean> {
        watched.spent = await holdOverBudget(deps, batch);
        return watched.spent;
      },
      leave(): void {
        watched.slices -= 1;
        if (watched.slices === 0) batches.delete(batchId);
      },
    };
  };
}
