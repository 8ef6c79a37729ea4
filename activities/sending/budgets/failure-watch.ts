import type { ActivityDeps } from '../../deps.ts';
import { holdOverBudget, isBudgetSpent, type BudgetedBatch } from './failure-budget.ts';

/** A batch is counted no more often than this … */
const POLL_INTERVAL_MS = 1_000;
/** … and counting takes at most a twentieth of the time, however large it is. */
const REST_PER_LOOK = 20;

/** What one slice does about failures of its batch, which arrive while it sends. */
export interface FailureWatch {
  /** A look of this process found the budget spent: nothing more is to be sent. */
  readonly spent: boolean;
  /** After an answer: looks when the time for it has come and no other slice is looking; null: not now. */
  look(): Promise<void> | null;
  /** At the end of the slice: holds the rest when the budget is spent. True when it did. */
  hold(): Promise<boolean>;
  leave(): void;
}

interface MonitoredBatch {
  slices: number;
  nextLook: number;
  looking: boolean;
  spent: boolean;
}

/** The failure budgets of all batches that one process sends: its slices share their looks. */
export function createFailureWatches(): (deps: ActivityDeps, batch: BudgetedBatch) => FailureWatch {
  const batches = new Map<string, MonitoredBatch>();

  return (deps, batch) => {
    const { batchId } = batch;
    const watched = batches.get(batchId) ?? {
      ...{ slices: 0, nextLook: deps.now() + POLL_INTERVAL_MS },
      ...{ looking: false, spent: false },
    };
    batches.set(batchId, watched);
    watched.slices += 1;

    return {
      get spent() {
        return watched.spent;
      },
      look() {
        if (watched.spent || watched.looking || deps.now() < watched.nextLook) return null;
        return lookAt(watched, deps, batch);
      },
      async hold() {
        watched.spent = await holdOverBudget(deps, batch);
        return watched.spent;
      },
      leave() {
        watched.slices -= 1;
        if (watched.slices === 0) batches.delete(batchId);
      },
    };
  };
}

async function lookAt(watched: MonitoredBatch, deps: ActivityDeps, batch: BudgetedBatch): Promise<void> {
  watched.looking = true;
  const began = deps.now();
  let counted = began;
  try {
    watched.spent = await isBudgetSpent(deps, batch, () => (counted = deps.now()));
  } finally {
    watched.looking = false;
    watched.nextLook = deps.now() + Math.max(POLL_INTERVAL_MS, (counted - began) * REST_PER_LOOK);
  }
}
