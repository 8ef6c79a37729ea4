import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { BatchLedger, FinishStaging } from '../../domain/ports/ledger/batch-ledger.ts';
import type { BatchClaim, BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { BATCH_COLUMNS, type BatchRow } from '../batches/batch-columns-sql.ts';
import { batchRecord } from '../batches/batch-record.ts';
import { lockUnderClaim, shareUnderClaim } from '../batches/claim-proof.ts';
import { INSERT_FINDINGS } from '../batches/findings-sql.ts';
import { column } from '../database/array-literal.ts';
import type { Database, Queries } from '../database/database.ts';
import type { KeyOf } from '../database/key-of.ts';
import { createBatchRowStore } from './batch-row-store.ts';
import { forgetRows, forgetStaging, passOnLeftOver } from './forget-staging.ts';
import { stageInvoices } from './stage-invoices.ts';
import { createTableTidying } from './table-tidying.ts';

/** batchId, rows, rowsWithoutInvoice, invoices, pageSize, proof. */
const FINISH_STAGING = `/* finish-staging */
UPDATE batch SET state = 'running', row_count = $2, rows_without_invoice = $3, invoices = $4::integer, page_size = $5::integer,
  pages = ceil($4::integer::numeric / $5::integer)::integer, proof = $6
WHERE batch_id = $1 AND state = 'staging'
RETURNING ${BATCH_COLUMNS}`;

/** batchId, rows, proof, now. No row of a refused file belongs to an invoice. */
const REFUSE_BATCH = `/* refuse-batch */
UPDATE batch SET state = 'refused', row_count = $2, rows_without_invoice = $2, proof = $3, finished_at = $4
WHERE batch_id = $1 AND state = 'staging'
RETURNING ${BATCH_COLUMNS}`;

/** batchId: its invoices, and the rows of the file that stand under them. */
const COUNT_STAGED = `/* count-staged */
SELECT count(*) AS invoices, coalesce(sum(cardinality(file_rows)), 0)::bigint AS rows FROM batch_invoice WHERE batch_id = $1`;

type Staging = Pick<BatchLedger, 'restartStaging' | 'rowStore' | 'stageInvoices' | 'finishStaging' | 'refuseBatch'>;

/**
 * A file on its way into the ledger. Every write proves its claim under a lock of the batch's row, so that the end of the staging waits for each portion.
 * Every method acts on a batch in `staging` only; later it changes nothing.
 */
export function createStaging(database: Database, keyOf: KeyOf): Staging {
  const tidyTables = createTableTidying(database);
  return {
    rowStore: (claim) => createBatchRowStore(database, claim),

    async restartStaging(claim) {
      await whileStaging(claim, (queries) => forgetStaging(queries, claim.batchId, true));
    },

    async stageInvoices(claim, invoices, now) {
      await database.transaction(async (queries) => {
        // Portions of one file have no invoice in common, and are written beside each other.
        const { batchId, application, state } = await shareUnderClaim(queries, claim);
        if (state === 'staging') await stageInvoices(queries, { batchId, application, now, keyOf }, invoices);
      });
    },

    async finishStaging(claim, staged) {
      const { batchId } = claim;
      const batch = await whileStaging(claim, async (queries) => {
        await checkComplete(queries, batchId, staged);
        await passOnLeftOver(queries, batchId);
        await writeFindings(queries, batchId, staged.fileFindings);
        await forgetRows(queries, batchId);
        const { rows, rowsWithoutInvoice, invoices, pageSize } = staged;
        const proof = JSON.stringify(staged.proof);
        return queries.query<BatchRow>(FINISH_STAGING, [batchId, rows, rowsWithoutInvoice, invoices, pageSize, proof]);
      });
      await tidyTables(staged.rows);
      return batch;
    },

    async refuseBatch(claim, refusal) {
      const { batchId } = claim;
      return whileStaging(claim, async (queries) => {
        await forgetStaging(queries, batchId, false);
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
