import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { ActivityDeps } from '../deps.ts';
import type { BatchRecord } from '../../src/domain/records/batch-record.ts';

const NOT_READ = {
  code: 'run-lost',
  message:
    'The run of this batch ended before the ledger had the file to its end, and the ledger knows of nothing of it that was sent. Run the file again, with the same options.',
};
const NOT_SENT = {
  code: 'run-lost',
  message: 'The run of this batch was lost before this invoice was sent. Run the file again to send it.',
};
const NO_FINAL_WORD = {
  code: 'run-lost',
  message:
    'The run of this batch was lost before the final answer of the service. Reconciliation goes on asking with the same key, where that cannot make a second invoice, unless the batch is stopped.',
};

/**
 * Closes batches whose run Temporal has closed or does not know. Lote does not continue them: a person may have ended
 * the run because the wrong file went out, and its options (control totals, `hold`, a pause) are lost with it. Unsent
 * invoices become `held`, possibly sent ones `unknown` or `unsettled`; a file that was not read to its end is refused.
 * Before that, starts runs again that no worker continues. Returns the closed batches, also those of an earlier attempt
 * that failed later; their reports are due.
 */
export async function closeOrphans(deps: ActivityDeps): Promise<readonly string[]> {
  await deps.restartRuns();
  for (const batch of await deps.ledger.openBatches(deps.application)) {
    if (!isClaimedHere(batch) && (await deps.runs.isOpen(batch.workflowId, batch.runId))) continue;
    await closeOrphan(deps, batch);
  }
  return closedHere(deps);
}

/** Includes batches that an earlier attempt closed: the claim of a closed batch stays with the run that closed it. */
async function closedHere({ application, ledger }: ActivityDeps): Promise<readonly string[]> {
  const { workflowExecution } = Context.current().info;
  return workflowExecution === undefined ? [] : ledger.batchesClosedBy({ application, ...workflowExecution });
}

/** True if an earlier attempt of this run died before it had closed the batch. */
function isClaimedHere({ workflowId, runId }: BatchRecord): boolean {
  const { workflowExecution } = Context.current().info;
  return workflowExecution?.workflowId === workflowId && workflowExecution.runId === runId;
}

/** Closes a batch, unless a run that started meanwhile has the claim, or the batch was closed. */
async function closeOrphan(deps: ActivityDeps, batch: BatchRecord): Promise<void> {
  const { ledger, log } = deps;
  const { batchId, application, file, sha256, workflowId, runId, state } = batch;
  const { workflowExecution, attempt } = Context.current().info;
  if (workflowExecution === undefined) return;
  // Comes before the claim, because the claim replaces the run about which Lote asks Temporal.
  if (!isClaimedHere(batch)) await recordStopOf(deps, batch);
  const claim = await ledger.claimBatch({
    ...{ batchId, application, file, sha256, ...workflowExecution, attempt, now: deps.now() },
    takeOver: true,
    closedRun: { workflowId, runId },
    order: 'none',
  });
  if (claim.kind === 'owned' || claim.kind === 'closed') return;
  log.warn('a batch without a run is closed', { batchId, state, run: runId, stopped: claim.batch.stopped?.what });
  await closeClaimed(deps, claim.batch);
}

/**
 * Records which operator ended the run of a batch. A run that Temporal no longer has is not recorded as a stop: a repeat
 * inside the retention window finds out what was on the wire.
 */
export async function recordStopOf({ ledger, runs }: ActivityDeps, batch: BatchRecord): Promise<void> {
  if (batch.stopped !== null) return;
  const stop = await runs.stopOf(batch);
  if (stop === null) return;
  await ledger.recordStop(batch, stop);
  if (batch.state === 'running') await sleep(PUT_BACK_MS);
}

/** Activities of a stopped run send nothing after a second, and put back frozen invoices while the claim stands. */
const PUT_BACK_MS = 1_500;

/** Closes a batch that this run has claimed, and sends nothing of it. */
export async function closeClaimed(deps: ActivityDeps, batch: BatchRecord): Promise<void> {
  const { ledger, now } = deps;
  const { batchId, fencingToken, state } = batch;
  if (state === 'staging') {
    const { code, message } = NOT_READ;
    await ledger.refuseBatch(batch, {
      rows: 0,
      fileFindings: [{ row: null, column: null, code, message, severity: 'error' }],
      proof: {},
      now: now(),
    });
    return;
  }
  const reasons = { unsent: NOT_SENT, left: NO_FINAL_WORD };
  await ledger.endBatch(batchId, { state: 'finished', ...reasons, now: now(), fencingToken });
}
