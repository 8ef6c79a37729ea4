import { LoteError } from '../../domain/errors.ts';
import type { BatchClaim, BatchRecord, FencingToken } from '../../domain/ports/ledger/batch-record.ts';
import { BATCH_COLUMNS, type BatchRow } from './batch-columns-sql.ts';
import { foundBatch } from './batch-record.ts';
import { LOCK_BATCH } from './find-batch-sql.ts';
import type { Queries } from '../database/database.ts';

/** batchId: nobody changes it until the transaction ends, and others may hold it so beside this one. */
const SHARE_BATCH = `/* share-batch */
SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1 FOR SHARE`;

/**
 * The batch, locked, for a writer that holds its claim: until the transaction ends nobody raises the token and nobody else writes under it.
 * @throws LoteError `batch-not-found`, `claim-lost`
 */
export async function lockUnderClaim(queries: Queries, claim: BatchClaim): Promise<BatchRecord> {
  return proved(claim, await queries.query<BatchRow>(LOCK_BATCH, [claim.batchId]));
}

/**
 * The same for a writer of a portion of the file, beside others.
 * @throws LoteError `batch-not-found`, `claim-lost`
 */
export async function shareUnderClaim(queries: Queries, claim: BatchClaim): Promise<BatchRecord> {
  return proved(claim, await queries.query<BatchRow>(SHARE_BATCH, [claim.batchId]));
}

/**
 * The same for the rounds of a batch that runs; no token to prove: an earlier version of Lote started the run.
 * @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict`
 */
export function lockUnderToken(queries: Queries, batchId: string, fencingToken: FencingToken): Promise<BatchRecord> {
  return underToken(queries, LOCK_BATCH, { batchId, fencingToken });
}

/**
 * The same for writers that may go on beside each other: until the transaction ends nobody raises the token.
 * @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict`
 */
export function shareUnderToken(queries: Queries, batchId: string, fencingToken: FencingToken): Promise<BatchRecord> {
  return underToken(queries, SHARE_BATCH, { batchId, fencingToken });
}

async function underToken(
  queries: Queries,
  lock: string,
  { batchId, fencingToken }: { readonly batchId: string; readonly fencingToken: FencingToken },
): Promise<BatchRecord> {
  const rows = await queries.query<BatchRow>(lock, [batchId]);
  const batch = foundBatch(batchId, rows[0]);
  if (fencingToken === undefined || fencingToken === batch.fencingToken) return batch;
  throw roundLost({ batchId, fencingToken }, batch);
}

function proved(claim: BatchClaim, [row]: readonly BatchRow[]): BatchRecord {
  const batch = foundBatch(claim.batchId, row);
  if (batch.fencingToken !== claim.fencingToken) throw claimLost(claim, heldBy(batch));
  return batch;
}

/** A round is begun once: the next attempt of its step has the same token, and waits for ever where the ledger has a lower one. */
export function roundLost(claim: BatchClaim, batch: BatchRecord): LoteError {
  const found = batch.fencingToken;
  if (found > claim.fencingToken) return claimLost(claim, heldBy(batch));
  return new LoteError(
    'ledger-conflict',
    `Writing to batch "${claim.batchId}": the ledger must know the round of this run (fencing token ${claim.fencingToken}), but it has token ${found}, and a token never falls: ` +
      'it was restored from an older copy, or has lost its last transactions. Nothing was written, and this run ends. Reconciliation closes what it leaves; then drop the file again (docs/operations/backup.md)',
  );
}

function heldBy({ fencingToken, workflowId, runId }: BatchRecord): string {
  return `run ${runId} of workflow ${workflowId} has it (token ${fencingToken})`;
}

/** A later start of the same work has taken over: this attempt has nothing more to write. */
export function claimLost(claim: BatchClaim, found: string): LoteError {
  return new LoteError(
    'claim-lost',
    `Writing to batch "${claim.batchId}": the attempt must still hold its claim (fencing token ${claim.fencingToken}), but ${found}; a later attempt or run goes on, and this one wrote nothing`,
  );
}
