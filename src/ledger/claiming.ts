import { LoteError } from '../domain/errors.ts';
import type { BatchRecord, BatchState, ClaimBatch, ClaimResult } from '../domain/ports/ledger.ts';
import { batchRecord } from './batch-record.ts';
import type { Database, Queries } from './database.ts';
import type { BatchRow } from './sql/batch-columns.ts';
import { HAS_REOPENING_INVOICE } from './sql/has-reopening-invoice.ts';
import { HOLD_CLAIM } from './sql/hold-claim.ts';
import { INSERT_BATCH } from './sql/insert-batch.ts';
import { LOCK_BATCH_OF_FILE } from './sql/lock-batch-of-file.ts';

/**
 * Who may work on a file. One row per application and file, locked while the decision is made:
 *
 *   state             | same run         | another run               | another run, takeOver
 *   (none)            | claimed          | claimed                   | claimed
 *   staging           | claimed          | owned                     | claimed
 *   running, paused   | resumed          | owned                     | resumed
 *   finished, cancelled: with open invoices resumed (running again), else closed
 *   refused           | closed           | closed                    | closed
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
    ]);
    if (inserted !== undefined) return { kind: 'claimed', batch: batchRecord(inserted) };
    const [known] = await queries.query<BatchRow>(LOCK_BATCH_OF_FILE, [claim.application, claim.sha256]);
    if (known === undefined) throw idTaken(claim);
    return claimKnown(queries, claim, batchRecord(known));
  });
}

async function claimKnown(queries: Queries, claim: ClaimBatch, batch: BatchRecord): Promise<ClaimResult> {
  switch (batch.state) {
    case 'refused':
      return { kind: 'closed', batch };
    case 'finished':
    case 'cancelled':
      if (!(await hasReopeningInvoice(queries, batch.batchId))) return { kind: 'closed', batch };
      return { kind: 'resumed', batch: await hold(queries, claim, { batch, state: 'running' }) };
    case 'staging':
    case 'running':
    case 'paused': {
      const mine = batch.workflowId === claim.workflowId && batch.runId === claim.runId;
      if (!mine && !claim.takeOver) return { kind: 'owned', batch };
      const held = await hold(queries, claim, { batch, state: batch.state });
      return { kind: batch.state === 'staging' ? 'claimed' : 'resumed', batch: held };
    }
  }
}

async function hasReopeningInvoice(queries: Queries, batchId: string): Promise<boolean> {
  const [row] = await queries.query<{ found: boolean }>(HAS_REOPENING_INVOICE, [batchId]);
  return row?.found === true;
}

async function hold(
  queries: Queries,
  claim: ClaimBatch,
  target: { readonly batch: BatchRecord; readonly state: BatchState },
): Promise<BatchRecord> {
  const { batch, state } = target;
  const [row] = await queries.query<BatchRow>(HOLD_CLAIM, [batch.batchId, claim.workflowId, claim.runId, state]);
  return row === undefined ? batch : batchRecord(row);
}

/** The id holds the first digits of the file's hash: another file under it is another application's, or a collision. */
function idTaken(claim: ClaimBatch): LoteError {
  return new LoteError(
    'ledger-conflict',
    `Claiming a file as batch "${claim.batchId}": the id must be free or belong to the same application and file, and it belongs to another file; rename the file and drop it again`,
  );
}
