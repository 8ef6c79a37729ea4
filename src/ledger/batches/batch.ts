import { LoteError } from '../../domain/errors.ts';
import type { BatchClaim, BatchRecord, BatchWriter } from '../../domain/records/batch-record.ts';
import type { Queries } from '../../database/database.ts';

/** Columns of the table `batch` that make a `BatchRecord`. */
export const BATCH_COLUMNS = `batch_id, application, file, sha256, state, workflow_id, run_id, page_size, pages, row_count AS rows,
  rows_without_invoice, invoices, started_at, finished_at, revision, proof::json AS proof, fencing_token, stopped::json AS stopped`;

/** Returns the batch that the row describes. @throws LoteError `batch-not-found` when there is no row. */
export function foundBatch(batchId: string, row: BatchRecord | undefined): BatchRecord {
  if (row !== undefined) return row;
  throw new LoteError('batch-not-found', `The ledger has no batch "${batchId}"; lote status lists those it has`);
}

/**
 * Locks the batch for a writer, and checks its token unless it has none; no other writer can change it until the transaction ends.
 * `stale` makes the error for another token. @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict`
 */
export async function lockBatch(queries: Queries, writer: BatchWriter, stale = roundLost): Promise<BatchRecord> {
  const lock = `/* lock-batch */ SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1 FOR UPDATE`;
  return proved(writer, await queries.query<BatchRecord>(lock, [writer.batchId]), stale);
}

/** As `lockBatch`, but writers of other portions may run at the same time; the token stays until the transaction ends. */
export async function shareBatch(queries: Queries, writer: BatchWriter, stale = roundLost): Promise<BatchRecord> {
  const share = `/* share-batch */ SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1 FOR SHARE`;
  return proved(writer, await queries.query<BatchRecord>(share, [writer.batchId]), stale);
}

function proved(writer: BatchWriter, [row]: readonly BatchRecord[], stale: typeof roundLost): BatchRecord {
  const { batchId, fencingToken } = writer;
  const batch = foundBatch(batchId, row);
  if (fencingToken === undefined || fencingToken === batch.fencingToken) return batch;
  throw stale({ batchId, fencingToken }, batch);
}

/** Makes the error for a stale token. A retry cannot succeed when the ledger has a lower token, because all attempts of the step have the same token. */
export function roundLost(claim: BatchClaim, batch: BatchRecord): LoteError {
  if (batch.fencingToken > claim.fencingToken) return readingLost(claim, batch);
  return new LoteError(
    'ledger-conflict',
    `Writing to batch "${claim.batchId}": the ledger must know the round of this run (fencing token ${claim.fencingToken}), but it has token ${batch.fencingToken}, and a token never falls: ` +
      'it was restored from an older copy, or has lost its last transactions. Nothing was written, and this run ends. Reconciliation closes what it leaves; then drop the file again (docs/deployment.md#restore-the-ledger)',
  );
}

/** As `roundLost` for a step that reads a file: its next attempt claims anew, so a retry helps. */
export function readingLost(claim: BatchClaim, { fencingToken, workflowId, runId }: BatchRecord): LoteError {
  return claimLost(claim, `run ${runId} of workflow ${workflowId} has it (token ${fencingToken})`);
}

/** Makes the error for an attempt that a later start of the same work has replaced. The attempt has nothing more to write. */
export function claimLost(claim: BatchClaim, found: string): LoteError {
  return new LoteError(
    'claim-lost',
    `Writing to batch "${claim.batchId}": the attempt must still hold its claim (fencing token ${claim.fencingToken}), but ${found}; a later attempt or run goes on, and this one wrote nothing`,
  );
}
