import { LoteError } from '../../domain/errors.ts';
import type { BatchClaim, BatchRecord, FencingToken } from '../../domain/records/batch-record.ts';
import type { Queries } from '../database/database.ts';

/** Columns of the table `batch` that make a `BatchRecord`. */
export const BATCH_COLUMNS = `batch_id, application, file, sha256, state, workflow_id, run_id, temporal_id, page_size, pages, row_count AS rows,
  rows_without_invoice, invoices, started_at, finished_at, revision, proof::json AS proof, fencing_token, stopped::json AS stopped`;

/** Returns the batch that the row describes. @throws LoteError `batch-not-found` when there is no row. */
export function foundBatch(batchId: string, row: BatchRecord | undefined): BatchRecord {
  if (row !== undefined) return row;
  throw new LoteError('batch-not-found', `The ledger has no batch "${batchId}"; lote status lists those it has`);
}

/** Parameter: batchId. */
export const FIND_BATCH = `/* find-batch */
SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1`;

/** Parameter: batchId. No other transaction can change the batch until this one ends. */
export const LOCK_BATCH = `/* lock-batch */
SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1 FOR UPDATE`;

/** Parameter: batchId. As `LOCK_BATCH`, but other transactions may hold the same shared lock. */
const SHARE_BATCH = `/* share-batch */
SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1 FOR SHARE`;

/** Locks the batch for a writer that holds its claim; no other one can write until the transaction ends. @throws LoteError `batch-not-found`, `claim-lost` */
export async function lockUnderClaim(queries: Queries, claim: BatchClaim): Promise<BatchRecord> {
  return proved(claim, await queries.query<BatchRecord>(LOCK_BATCH, [claim.batchId]));
}

/** As `lockUnderClaim`, but writers of other portions may run at the same time. @throws LoteError `batch-not-found`, `claim-lost` */
export async function shareUnderClaim(queries: Queries, claim: BatchClaim): Promise<BatchRecord> {
  return proved(claim, await queries.query<BatchRecord>(SHARE_BATCH, [claim.batchId]));
}

/** As `lockUnderClaim`, for rounds of a running batch; no token skips the check. @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict` */
export async function lockUnderToken(queries: Queries, batchId: string, token: FencingToken): Promise<BatchRecord> {
  return provedRound(batchId, token, await queries.query<BatchRecord>(LOCK_BATCH, [batchId]));
}

/** As `lockUnderToken`, but other writers may run too; the token stays until the transaction ends. @throws LoteError as `lockUnderToken` */
export async function shareUnderToken(queries: Queries, batchId: string, token: FencingToken): Promise<BatchRecord> {
  return provedRound(batchId, token, await queries.query<BatchRecord>(SHARE_BATCH, [batchId]));
}

function provedRound(batchId: string, fencingToken: FencingToken, [row]: readonly BatchRecord[]): BatchRecord {
  const batch = foundBatch(batchId, row);
  if (fencingToken === undefined || fencingToken === batch.fencingToken) return batch;
  throw roundLost({ batchId, fencingToken }, batch);
}

function proved(claim: BatchClaim, [row]: readonly BatchRecord[]): BatchRecord {
  const batch = foundBatch(claim.batchId, row);
  if (batch.fencingToken !== claim.fencingToken) throw claimLost(claim, heldBy(batch));
  return batch;
}

/** Makes the error for a stale token. A retry cannot succeed when the ledger has a lower token, because all attempts of the step have the same token. */
export function roundLost(claim: BatchClaim, batch: BatchRecord): LoteError {
  const found = batch.fencingToken;
  if (found > claim.fencingToken) return claimLost(claim, heldBy(batch));
  return new LoteError(
    'ledger-conflict',
    `Writing to batch "${claim.batchId}": the ledger must know the round of this run (fencing token ${claim.fencingToken}), but it has token ${found}, and a token never falls: ` +
      'it was restored from an older copy, or has lost its last transactions. Nothing was written, and this run ends. Reconciliation closes what it leaves; then drop the file again (docs/deployment.md#restore-the-ledger)',
  );
}

function heldBy({ fencingToken, workflowId, runId }: BatchRecord): string {
  return `run ${runId} of workflow ${workflowId} has it (token ${fencingToken})`;
}

/** Makes the error for an attempt that a later start of the same work has replaced. The attempt has nothing more to write. */
export function claimLost(claim: BatchClaim, found: string): LoteError {
  return new LoteError(
    'claim-lost',
    `Writing to batch "${claim.batchId}": the attempt must still hold its claim (fencing token ${claim.fencingToken}), but ${found}; a later attempt or run goes on, and this one wrote nothing`,
  );
}
