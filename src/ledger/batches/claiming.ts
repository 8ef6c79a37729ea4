import { LoteError } from '../../domain/errors.ts';
import { REOPENING_STATES } from '../../domain/invoice-state.ts';
import type { ClaimBatch, ClaimResult } from '../../domain/ports/ledger/batch-ledger.ts';
import type { BatchRecord, BatchState } from '../../domain/ports/ledger/batch-record.ts';
import { BATCH_COLUMNS, type BatchRow } from './batch-columns-sql.ts';
import { batchRecord } from './batch-record.ts';
import { claimLost } from './claim-proof.ts';
import { IS_DIFFERENCE } from './findings-sql.ts';
import { INVOICE_OF_LINE } from './page-of-sql.ts';
import { HOLD_CLAIM } from './hold-claim-sql.ts';
import type { Database, Queries } from '../database/database.ts';
import { stateList } from '../database/states.ts';

/** batchId: is there anything in it that a closed batch is opened again for? Control totals that differ are one: its report must say what the next start declares. */
const HAS_SOMETHING_OPEN = `/* has-something-open */
SELECT EXISTS (
  SELECT 1 FROM batch_invoice bi JOIN ${INVOICE_OF_LINE}
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.state IN ${stateList(REOPENING_STATES)}
) OR EXISTS (SELECT 1 FROM finding f WHERE f.batch_id = $1 AND ${IS_DIFFERENCE}) AS found`;

/**
 * batchId, application, file, sha256, workflowId, runId, now, attempt, temporalId. No row when the file, or the batch's id, is
 * known.
 */
const INSERT_BATCH = `/* insert-batch */
INSERT INTO batch (batch_id, application, file, sha256, state, workflow_id, run_id, started_at, fencing_token, raised_attempt, temporal_id)
VALUES ($1, $2, $3, $4, 'staging', $5, $6, $7, 1, $8, $9)
ON CONFLICT DO NOTHING
RETURNING ${BATCH_COLUMNS}`;

/** A batch with what an operator ordered its sending: `paused`, `cancelled` or nothing. */
interface ControlledBatchRow extends BatchRow {
  readonly sending_stop: string | null;
}

/** application, sha256: one claim of a file at a time. */
const LOCK_BATCH_OF_FILE = `/* lock-batch-of-file */
SELECT ${BATCH_COLUMNS}, sending_stop FROM batch WHERE application = $1 AND sha256 = $2 FOR UPDATE`;

/**
 * Who may work on a file. One row per application and file, locked while the decision is made:
 *
 *   state             | same run         | another run               | another run, takeOver
 *   (none)            | claimed          | claimed                   | claimed
 *   staging           | claimed          | owned                     | claimed
 *   running, paused   | resumed          | owned                     | resumed; owned, with `leavesStopped`, when an operator has paused or cancelled it
 *   finished, cancelled: with open invoices, or control totals that differ, resumed (running again), else closed; closed for a run that waited for the one that had it
 *   refused           | closed           | closed, or claimed when it is to be read again
 *
 * The same run means a later attempt of it: an earlier attempt gets `claim-lost`.
 */
export async function claimBatch(database: Database, claim: ClaimBatch): Promise<ClaimResult> {
  return database.transaction(async (queries) => {
    const [inserted] = await queries.query<BatchRow>(INSERT_BATCH, [
      claim.batchId,
      claim.application,
      claim.file,
      claim.sha256,
      claim.workflowId,
      claim.runId,
      claim.now,
      claim.attempt,
      claim.temporalId ?? null,
    ]);
    if (inserted !== undefined) return { kind: 'claimed', batch: batchRecord(inserted) };
    const [known] = await queries.query<ControlledBatchRow>(LOCK_BATCH_OF_FILE, [claim.application, claim.sha256]);
    if (known === undefined) throw idTaken(claim);
    return claimKnown(queries, claim, known);
  });
}

async function claimKnown(queries: Queries, claim: ClaimBatch, known: ControlledBatchRow): Promise<ClaimResult> {
  const batch = batchRecord(known);
  if (batch.state !== 'refused') requireLatestAttempt(claim, known);
  switch (batch.state) {
    case 'refused':
      // The run that refused it, repeating its step after a crash, has the answer already.
      if (isHolder(claim, batch) || claim.rereadRefused !== true) return { kind: 'closed', batch };
      return { kind: 'claimed', batch: await hold(queries, claim, { batch, state: 'staging' }) };
    case 'finished':
    case 'cancelled':
      if (claim.waited === true || !(await hasSomethingOpen(queries, batch.batchId))) return { kind: 'closed', batch };
      return { kind: 'resumed', batch: await hold(queries, claim, { batch, state: 'running' }) };
    case 'staging':
    case 'running':
    case 'paused': {
      if (!isHolder(claim, batch) && !mayTakeOver(claim, batch, known.sending_stop)) return { kind: 'owned', batch };
      const held = await hold(queries, claim, { batch, state: batch.state });
      return { kind: batch.state === 'staging' ? 'claimed' : 'resumed', batch: held };
    }
  }
}

/**
 * An attempt that was stopped before it claimed, and goes on after a later one of its run did, must not take the work
 * back.
 */
export function requireLatestAttempt(
  claim: { readonly workflowId: string; readonly runId: string; readonly attempt: number },
  known: BatchRow,
): void {
  const batch = batchRecord(known);
  if (!isHolder(claim, batch) || (known.raised_from === null && claim.attempt > known.raised_attempt)) return;
  throw claimLost(batch, `attempt ${claim.attempt} of its run asks and a later one has claimed it`);
}

function isHolder(run: { readonly workflowId: string; readonly runId: string }, batch: BatchRecord): boolean {
  return batch.workflowId === run.workflowId && batch.runId === run.runId;
}

/**
 * Two callers that saw the same run closed may both take over: the second one meets the claim of the first, whose run
 * is open.
 */
function mayTakeOver(claim: ClaimBatch, batch: BatchRecord, sendingStop: string | null): boolean {
  const { takeOver, closedRun, leavesStopped } = claim;
  if (leavesStopped === true && (batch.state === 'paused' || sendingStop !== null)) return false;
  return takeOver && (closedRun === undefined || isHolder(closedRun, batch));
}

async function hasSomethingOpen(queries: Queries, batchId: string): Promise<boolean> {
  const [row] = await queries.query<{ found: boolean }>(HAS_SOMETHING_OPEN, [batchId]);
  return row?.found === true;
}

async function hold(
  queries: Queries,
  claim: ClaimBatch,
  target: { readonly batch: BatchRecord; readonly state: BatchState },
): Promise<BatchRecord> {
  const { batch, state } = target;
  const [row] = await queries.query<BatchRow>(HOLD_CLAIM, [
    batch.batchId,
    claim.workflowId,
    claim.runId,
    state,
    claim.attempt,
    claim.temporalId ?? null,
  ]);
  return row === undefined ? batch : batchRecord(row);
}

/** The id holds the first digits of the file's hash: another file under it is another application's, or a collision. */
function idTaken(claim: ClaimBatch): LoteError {
  return new LoteError(
    'ledger-conflict',
    `Claiming a file as batch "${claim.batchId}": the id must be free or belong to the same application and file, and it belongs to another file; rename the file and drop it again`,
  );
}
