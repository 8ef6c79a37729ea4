import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { BatchLedger, FinishStaging } from '../../domain/ports/ledger/batch-ledger.ts';
import type { BatchClaim, BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { BATCH_COLUMNS, type BatchRow } from '../batches/batch-columns-sql.ts';
import { batchRecord } from '../batches/batch-record.ts';
import { lockUnderClaim, shareUnderToken } from '../batches/claim-proof.ts';
import { INSERT_FINDINGS } from '../batches/findings-sql.ts';
import { column } from '../database/array-literal.ts';
import type { Database, Queries } from '../database/database.ts';
import type { KeyOf } from '../database/key-of.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';
import { createBatchRowStore } from './batch-row-store.ts';
import { FORGET_BATCH_ROWS, FORGET_ROW_ORDER } from './batch-rows-sql.ts';
import { stageInvoices } from './stage-invoices.ts';
import { createTableTidying } from './table-tidying.ts';

/** A line of another batch that holds invoice `i` as it is. */
const IS_OTHER_LINE = `other.invoice_id = i.invoice_id AND other.batch_id <> $1 AND other.outcome IS NULL`;

/**
 * batchId: what it never sent, locked in the order in which stagings lock. A portion of another file that attaches itself to one of these is waited for, so
 * that the next statements see its lines; one that comes later waits, and then finds what was passed on and nothing else.
 */
const LOCK_UNSENT = `/* lock-unsent */
SELECT count(*) AS invoices FROM (
  SELECT i.invoice_id FROM invoice i
  WHERE i.invoice_id = ANY(ARRAY(SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = $1))
    AND i.owner_batch = $1 AND i.state = 'staged'
  ORDER BY i.identity
  FOR UPDATE OF i
) locked`;

/** batchId: the batches of those lines; none of them ends before what is passed on to it is committed. */
const LOCK_HEIRS = `/* lock-heirs */
SELECT b.batch_id FROM batch b
WHERE b.batch_id = ANY(ARRAY(
  SELECT DISTINCT other.batch_id
  FROM batch_invoice mine
  JOIN LATERAL (
    SELECT own.invoice_id FROM invoice own
    WHERE own.invoice_id = mine.invoice_id AND own.owner_batch = $1 AND own.state = 'staged' OFFSET 0
  ) i ON true
  JOIN LATERAL (SELECT other.batch_id FROM batch_invoice other WHERE ${IS_OTHER_LINE} OFFSET 0) other ON true
  WHERE mine.batch_id = $1))
ORDER BY b.batch_id
FOR SHARE`;

/**
 * batchId: what it never sent and another batch waits for goes to the oldest of those batches, one that is being staged before one that may have sent its
 * page already. A batch that is closed sends nothing: there it is held, so that somebody is told and a retry finds it.
 */
const PASS_ON_UNSENT = `/* pass-on-unsent */
WITH heir AS (
  SELECT i.invoice_id, h.batch_id, h.closed
  FROM invoice i
  JOIN LATERAL (
    SELECT b.batch_id, b.state IN ${CLOSED_BATCH_STATES} AS closed
    FROM batch_invoice other JOIN batch b ON b.batch_id = other.batch_id
    WHERE ${IS_OTHER_LINE}
    ORDER BY b.state <> 'staging', b.state IN ${CLOSED_BATCH_STATES}, b.seq LIMIT 1
  ) h ON true
  WHERE i.invoice_id = ANY(ARRAY(SELECT mine.invoice_id FROM batch_invoice mine WHERE mine.batch_id = $1))
    AND i.owner_batch = $1 AND i.state = 'staged'
)
UPDATE invoice i SET owner_batch = heir.batch_id,
  state = CASE WHEN heir.closed THEN 'held' ELSE i.state END,
  reason_code = CASE WHEN heir.closed THEN 'not-sent' ELSE i.reason_code END,
  reason_message = CASE WHEN heir.closed
    THEN 'The file that was to send this invoice was not read to its end. Drop this file again, or retry the invoice, to send it.'
    ELSE i.reason_message END
FROM heir
WHERE i.invoice_id = heir.invoice_id AND i.owner_batch = $1 AND i.state = 'staged'`;

/** batchId: what only this staging knew and nobody ever sent. */
const FORGET_UNSENT = `/* forget-unsent */
WITH forgotten AS (
  DELETE FROM invoice i
  WHERE i.invoice_id = ANY(ARRAY(SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = $1)) AND i.owner_batch = $1
    AND i.state = 'staged' AND i.generation = 1 AND i.attempts = 0
  RETURNING i.invoice_id
)
DELETE FROM invoice_content c WHERE c.invoice_id = ANY(ARRAY(SELECT invoice_id FROM forgotten))`;

/** batchId. */
const FORGET_BATCH_INVOICES = `/* forget-batch-invoices */
DELETE FROM batch_invoice WHERE batch_id = $1`;

/** batchId. */
const FORGET_FINDINGS = `/* forget-findings */
DELETE FROM finding WHERE batch_id = $1`;

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
      await whileStaging(claim, (queries) => forgetStaging(queries, claim.batchId));
    },

    async stageInvoices(claim, invoices, now) {
      await database.transaction(async (queries) => {
        // Portions of one file have no invoice in common, and are written beside each other.
        const { batchId, application, state } = await shareUnderToken(queries, claim.batchId, claim.fencingToken);
        if (state === 'staging') await stageInvoices(queries, { batchId, application, now, keyOf }, invoices);
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
      await tidyTables(staged.rows);
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
  for (const text of [LOCK_UNSENT, LOCK_HEIRS, PASS_ON_UNSENT, FORGET_UNSENT, FORGET_BATCH_INVOICES, FORGET_FINDINGS]) {
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
