import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { BatchClaim, BatchLedger, BatchRecord, FinishStaging } from '../../domain/ports/ledger.ts';
import { batchRecord } from '../batches/batch-record.ts';
import { createBatchRowStore } from './batch-row-store.ts';
import { lockUnderClaim } from '../batches/claim-proof.ts';
import type { Database, Queries } from '../database/database.ts';
import type { KeyOf } from '../database/key-of.ts';
import { column } from '../database/array-literal.ts';
import type { BatchRow } from '../batches/batch-columns-sql.ts';
import { FORGET_BATCH_ROWS, FORGET_ROW_ORDER } from './batch-rows-sql.ts';
import { COUNT_STAGED } from './count-staged-sql.ts';
import { INSERT_FINDINGS } from '../batches/findings-sql.ts';
import { FINISH_STAGING } from './finish-staging-sql.ts';
import { FORGET_BATCH_INVOICES, FORGET_FINDINGS, FORGET_UNSENT, PASS_ON_UNSENT } from './forget-staging-sql.ts';
import { REFUSE_BATCH } from './refuse-batch-sql.ts';
import { TIDY_TABLES } from './tidy-tables-sql.ts';
import { stageInvoices } from './stage-invoices.ts';
import { StatementFailure } from '../database/statement-failure.ts';

type Staging = Pick<BatchLedger, 'restartStaging' | 'rowStore' | 'stageInvoices' | 'finishStaging' | 'refuseBatch'>;

/**
 * A file on its way into the ledger. Every write proves its claim under the lock of the batch's row. Every method acts on a batch in `staging`
 * only; later it changes nothing.
 */
export function createStaging(database: Database, keyOf: KeyOf): Staging {
  return {
    rowStore: (claim) => createBatchRowStore(database, claim),

    async restartStaging(claim) {
      await whileStaging(claim, (queries) => forgetStaging(queries, claim.batchId));
    },

    async stageInvoices(claim, invoices, now) {
      await whileStaging(claim, async (queries, { batchId, application }) => {
        await stageInvoices(queries, { batchId, application, now, keyOf }, invoices);
      });
    },

    async finishStaging(claim, staged) {
      const { batchId } = claim;
      const batch = await whileStaging(claim, async (queries) => {
        await checkComplete(queries, batchId, staged);
        await writeFindings(queries, batchId, staged.fileFindings);
        await forgetRows(queries, batchId);
        const { rows, rowsWithoutInvoice, invoices, pageSize } = staged;
        const proof = JSON.stringify(staged.proof);
        return queries.query<BatchRow>(FINISH_STAGING, [batchId, rows, rowsWithoutInvoice, invoices, pageSize, proof]);
      });
      await tidyTables();
      return batch;
    },

    async refuseBatch(claim, refusal) {
      const { batchId } = claim;
      return whileStaging(claim, async (queries) => {
        await forgetStaging(queries, batchId);
        await writeFindings(queries, batchId, refusal.fileFindings);
        return queries.query<BatchRow>(REFUSE_BATCH, [
          batchId,
          refusal.rows,
          JSON.stringify(refusal.proof),
          refusal.now,
        ]);
      });
    },
  };

  /** Housekeeping of what is committed already: that it is refused must not undo the staging. */
  async function tidyTables(): Promise<void> {
    try {
      await database.query(TIDY_TABLES);
    } catch (error) {
      if (!(error instanceof StatementFailure)) throw error;
    }
  }

  /** The batch as `work` left it; a batch that is past staging (a step repeated after a crash) as it is. */
  async function whileStaging(
    claim: BatchClaim,
    work: (queries: Queries, batch: BatchRecord) => Promise<readonly BatchRow[] | void>,
  ): Promise<BatchRecord> {
    return database.transaction(async (queries) => {
      const batch = await lockUnderClaim(queries, claim);
      if (batch.state !== 'staging') return batch;
      const [changed] = (await work(queries, batch)) ?? [];
      return changed === undefined ? batch : batchRecord(changed);
    });
  }
}

async function forgetStaging(queries: Queries, batchId: string): Promise<void> {
  for (const text of [PASS_ON_UNSENT, FORGET_UNSENT, FORGET_BATCH_INVOICES, FORGET_FINDINGS]) {
    await queries.query(text, [batchId]);
  }
  await forgetRows(queries, batchId);
}

async function forgetRows(queries: Queries, batchId: string): Promise<void> {
  await queries.query(FORGET_ROW_ORDER, [batchId]);
  await queries.query(FORGET_BATCH_ROWS, [batchId]);
}

async function writeFindings(queries: Queries, batchId: string, findings: readonly Finding[]): Promise<void> {
  if (findings.length === 0) return;
  await queries.query(INSERT_FINDINGS, [
    batchId,
    column([...findings.keys()], (index) => index + 1),
    column(findings, (finding) => JSON.stringify(finding)),
  ]);
}

/** To lose an invoice or a line silently is the second worst that Lote can do: what ingest read must stand in the ledger, whole. */
async function checkComplete(queries: Queries, batchId: string, staged: FinishStaging): Promise<void> {
  const { invoices, rows, rowsWithoutInvoice } = staged;
  const [found] = await queries.query<{ invoices: number; rows: number }>(COUNT_STAGED, [batchId]);
  if (found?.invoices === invoices && found.rows + rowsWithoutInvoice === rows) return;
  throw new LoteError(
    'ledger-conflict',
    `Ending the staging of batch "${batchId}": all ${invoices} invoices and ${rows - rowsWithoutInvoice} rows read from the file must stand in the ledger, found ${found?.invoices ?? 0} invoices with ${found?.rows ?? 0} rows; nothing was sent; run the file again`,
  );
}
