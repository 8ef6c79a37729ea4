import { Context } from '@temporalio/activity';
import { LoteError } from '../../src/domain/errors.ts';
import type { BatchRecord } from '../../src/domain/ports/ledger/batch-record.ts';
import { holdUnsentBefore } from '../batch/hold-unsent-before.ts';
import { temporalOfClaim } from '../batch/temporal-of-claim.ts';
import type { ActivityDeps } from '../deps.ts';
import { isStoppedInLedger } from '../stopped-in-ledger.ts';
import { stoppedUnanswered } from '../stopped-unanswered.ts';

export interface OrphansInput {
  readonly ledgerId?: string | undefined;
  /** False: a run that ended less than a minute ago is left alone, for its activities may still be at work. */
  readonly all: boolean;
}

/** Longer than an activity needs to hear that its run has ended (workflows/activity-options.ts). */
const GRACE_MS = 60_000;

const NOT_READ = {
  code: 'run-lost',
  message:
    'The run of this batch ended before the ledger had the file to its end, and the ledger knows of nothing of it that was sent. Drop the file again, with the same options.',
};
const NOT_SENT = {
  code: 'run-lost',
  message: 'The run of this batch was lost before this invoice was sent. Drop the file again to send it.',
};
const NO_FINAL_WORD = {
  code: 'run-lost',
  message:
    'The run of this batch was lost before the final answer of the service. Reconciliation goes on asking with the same key, where that cannot make a second invoice.',
};

/**
 * Closes batches whose run Temporal has closed, or does not know. They are not sent on: the run may have been ended because the wrong
 * file went out, and how it was started (control totals, `hold`, a pause) went with it. What was not sent is `held`,
 * what may have been is `unknown` or `unsettled`, and waits for a person where an operator stopped the batch and no process is known to have sent it; a file that was not read to its end is refused.
 * Returns the batches closed, also by an earlier attempt that failed at a later batch; their reports are due.
 */
export async function closeOrphans(deps: ActivityDeps, { all }: OrphansInput): Promise<readonly string[]> {
  for (const batch of await deps.ledger.openBatches(deps.application)) {
    if (!isClaimedHere(batch)) {
      const endedForMs = await deps.runs.endedForMs(batch.workflowId, batch.runId);
      if (endedForMs === null || (!all && endedForMs < GRACE_MS)) continue;
    }
    if (!(await hasReadableReports(deps, batch))) continue;
    await closeOrphan(deps, batch);
  }
  return closedHere(deps);
}

/** What an earlier attempt closed is open no more. The ledger knows it: the claim of a closed batch stays with the run that closed it. */
async function closedHere({ application, ledger }: ActivityDeps): Promise<readonly string[]> {
  const { workflowExecution } = Context.current().info;
  return workflowExecution === undefined ? [] : ledger.batchesClosedBy({ application, ...workflowExecution });
}

/** One that cannot be read keeps its own batch open, and no other. */
async function hasReadableReports({ reports, log }: ActivityDeps, { batchId }: BatchRecord): Promise<boolean> {
  try {
    await reports.rowsNotSent(batchId);
    return true;
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'folder-unusable') throw error;
    log.error('a batch without a run is not closed', { batchId, err: error });
    return false;
  }
}

/** By an earlier attempt of this run, which died before it had closed it. */
function isClaimedHere({ workflowId, runId }: BatchRecord): boolean {
  const { workflowExecution } = Context.current().info;
  return workflowExecution?.workflowId === workflowId && workflowExecution.runId === runId;
}

/** Does nothing where a run that started meanwhile has the claim, or the batch was closed. */
async function closeOrphan(deps: ActivityDeps, batch: BatchRecord): Promise<void> {
  const { ledger, log } = deps;
  const { batchId, application, file, sha256, workflowId, runId, state } = batch;
  const { workflowExecution, attempt } = Context.current().info;
  if (workflowExecution === undefined) return;
  // Before the claim, which takes the place of both the run and what an operator ordered it.
  const stopped = await wasStopped(deps, batch);
  const claim = await ledger.claimBatch({
    ...{ batchId, application, file, sha256, ...workflowExecution, attempt, now: deps.now() },
    temporalId: await temporalOfClaim(deps),
    takeOver: true,
    closedRun: { workflowId, runId },
    // A batch that was closed meanwhile stays as its own run closed it.
    waited: true,
  });
  if (claim.kind === 'owned' || claim.kind === 'closed') return;
  log.warn('a batch without a run is closed', { batchId, state, run: runId, stopped });
  await (claim.kind === 'claimed' ? refuse(deps, claim.batch) : finish(deps, claim.batch, stopped));
}

/**
 * An operator wanted no POST after this moment: the run was terminated or cancelled, or may have been before it was removed, or the ledger has the batch as paused
 * or cancelled. A run that was lost with the database of Temporal is no stop: a repeat inside the retention window finds out what was on the wire.
 */
async function wasStopped({ ledger, runs }: ActivityDeps, batch: BatchRecord): Promise<boolean> {
  // An earlier attempt has put its own run in the place of the one that would be asked for.
  if (isClaimedHere(batch)) return true;
  if (await isStoppedInLedger(ledger, batch.batchId)) return true;
  return runs.wasStopped(batch);
}

async function refuse({ ledger, now }: ActivityDeps, claim: BatchRecord): Promise<void> {
  const { code, message } = NOT_READ;
  await ledger.refuseBatch(claim, {
    rows: 0,
    fileFindings: [{ row: null, column: null, code, message, severity: 'error' }],
    proof: {},
    now: now(),
  });
}

async function finish(deps: ActivityDeps, batch: BatchRecord, stopped: boolean): Promise<void> {
  const { ledger, now } = deps;
  const { batchId, fencingToken } = batch;
  await holdUnsentBefore(deps, batch);
  await ledger.holdUnsent(batchId, { reason: NOT_SENT, now: now(), fencingToken });
  const unanswered = stopped ? stoppedUnanswered(deps, 'run-ended') : undefined;
  await ledger.closeBatch(batchId, { reason: NO_FINAL_WORD, unanswered, now: now(), fencingToken });
  await ledger.endBatch(batchId, { state: 'finished', unsent: NOT_SENT, now: now(), fencingToken });
}
