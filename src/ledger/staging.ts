import { LoteError } from '../domain/errors.ts';
import type { Finding } from '../domain/invoice.ts';
import type { BatchLedger, BatchRecord } from '../domain/ports/ledger.ts';
import { batchRecord, foundBatch } from './batch-record.ts';
import { createBatchRowStore } from './batch-row-store.ts';
import type { Database, Queries } from './database.ts';
import type { KeyOf } from './key-of.ts';
import { column } from './sql/array-literal.ts';
import type { BatchRow } from './sql/batch-columns.ts';
import { FORGET_BATCH_ROWS, FORGET_ROW_ORDER } from './sql/batch-rows.ts';
import { COUNT_STAGED } from './sql/count-staged.ts';
import { LOCK_BATCH } from './sql/find-batch.ts';
import { INSERT_FINDINGS } from './sql/findings.ts';
import { FINISH_STAGING } from './sql/finish-staging.ts';
import { FORGET_BATCH_INVOICES, FORGET_FINDINGS, FORGET_UNSENT, PASS_ON_UNSENT } from './sql/forget-staging.ts';
import { REFUSE_BATCH } from './sql/refuse-batch.ts';
import { TIDY_TABLES } from './sql/tidy-tables.ts';
import { stageInvoices } from './stage-invoices.ts';
import { StatementFailure } from './statement-failure.ts';

type Staging = Pick<BatchLedger, 'restartStaging' | 'rowStore' | 'stageInvoices' | 'finishStaging' | 'refuseBatch'>;

/** A file on its way into the ledger. Every method acts on a batch in `staging` only; later it changes nothing. */
export function createStaging(database: Database, keyOf: KeyOf): Staging {
  return {
    rowStore: (batchId) => createBatchRowStore(database, batchId),

    async restartStaging(batchId) {
      await whileStaging(batchId, (queries) => forgetStaging(queries, batchId));
    },

    async stageInvoices(batchId, invoices, now) {
      await whileStaging(batchId, async (queries, { application }) => {
        await stageInvoices(queries, { batchId, application, now, keyOf }, invoices);
      });
    },

    async finishStaging(batchId, staged) {
      const batch = await whileStaging(batchId, async (queries) => {
        await checkStagedCount(queries, batchId, staged.invoices);
        await writeFindings(queries, batchId, staged.fileFindings);
        await forgetRows(queries, batchId);
        const { rows, rowsWithoutInvoice, invoices, pageSize } = staged;
        const proof = JSON.stringify(staged.proof);
        return queries.query<BatchRow>(FINISH_STAGING, [batchId, rows, rowsWithoutInvoice, invoices, pageSize, proof]);
      });
      await tidyTables();
      return batch;
    },

    async refuseBatch(batchId, refusal) {
      return whileStaging(batchId, async (queries) => {
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
    batchId: string,
    work: (queries: Queries, batch: BatchRecord) => Promise<readonly BatchRow[] | void>,
  ): Promise<BatchRecord> {
    return database.transaction(async (queries) => {
      const [row] = await queries.query<BatchRow>(LOCK_BATCH, [batchId]);
      const batch = foundBatch(batchId, row);
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

/** To lose an invoice silently is the second worst that Lote can do: what ingest counted must stand in the ledger. */
async function checkStagedCount(queries: Queries, batchId: string, invoices: number): Promise<void> {
  const [found] = await queries.query<{ staged: number }>(COUNT_STAGED, [batchId]);
  if (found?.staged === invoices) return;
  throw new LoteError(
    'ledger-conflict',
    `Ending the staging of batch "${batchId}": all ${invoices} invoices read from the file must stand in the ledger, found ${found?.staged ?? 0}; nothing was sent; run the file again`,
  );
}
