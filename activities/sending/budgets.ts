import { answersSince, type AnswerCounts, failureShare, largestFailureShare } from '../../src/domain/answer-counts.ts';
import type { ActivityDeps } from '../deps.ts';
import { pollStatuses } from '../settling/poll-statuses.ts';
import type { FencingToken } from '../../src/domain/records/batch-record.ts';

/** The invoices whose answers are counted: those of a batch, or of a range of its ordinals. */
export interface CountedInvoices {
  readonly batchId: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** What was said before the round began; left out: nothing. */
  readonly before?: AnswerCounts | undefined;
}

/** What the service has said of them; what the retry policy of the service profile sends again is counted apart. */
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
 * The same, and reported failures count as well: a signed event alone does not hold a batch, so they are first confirmed by GET, unless the budget would not
 * be spent even if all of them were true.
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

/** To count a batch is to read all of it, so that it is not counted before enough can have gone wrong. */
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

/** Fewer refusals of a slice are not looked at: counting a batch is not free. */
const FIRST_READ = 16;
/** A batch is counted no more often than this … */
const POLL_INTERVAL_MS = 1_000;
/** … and a look takes at most a sixth of the time, however large the batch is. */
const REST_PER_LOOK = 5;

/** What one slice does about failures of its batch, which arrive while it sends. */
export type FailureWatch = ReturnType<ReturnType<typeof createFailureWatches>>;

/** The failure budgets of all batches that one process sends: its slices share their looks. */
export function createFailureWatches() {
  const batches = new Map<string, { slices: number; nextLook: number; isLooking: boolean; spent: boolean }>();

  return (deps: ActivityDeps, batch: BudgetedBatch) => {
    const { batchId } = batch;
    const begun = { slices: 0, nextLook: deps.now() + POLL_INTERVAL_MS, isLooking: false, spent: false };
    const watched = batches.get(batchId) ?? begun;
    batches.set(batchId, watched);
    watched.slices += 1;

    return {
      /** A look of this process found the budget spent: nothing more is to be sent. */
      get spent() {
        return watched.spent;
      },
      /** After an answer: looks when the time for it has come and no other slice is looking. */
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
      /** After the nth refusal of a slice: the budget is read at the 16th, and at each doubling. */
      async refused(nth: number): Promise<void> {
        if (nth >= FIRST_READ && Number.isInteger(Math.log2(nth)))
          watched.spent ||= (await readBudget(deps, batch)).spent;
      },
      /** At the end of the slice: holds the rest when the budget is spent. True when it did. */
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
