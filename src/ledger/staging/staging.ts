import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { RowStore } from '../../domain/row.ts';
import { BATCH_COLUMNS, lockBatch, readingLost, shareBatch } from '../batches/batch.ts';
import { column } from '../sql.ts';
import type { Database, Queries } from '../../database/database.ts';
import { createBatchRowStore, forgetRows } from './batch-row-store.ts';
import { forgetStaging, passOnLeftOver } from './forget-staging.ts';
import { type StageInvoice, stageInvoices } from './stage-invoices.ts';
import type { BatchClaim, BatchRecord } from '../../domain/records/batch-record.ts';
import { StatementFailure } from '../../database/statement-failure.ts';

/** The contents of the file, and how Lote read it. */
export interface FinishStaging {
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly invoices: number;
  readonly pageSize: number;
  readonly fileFindings: readonly Finding[];
  readonly proof: Readonly<Record<string, unknown>>;
}

const INSERT_FINDINGS = `/* insert-findings */
INSERT INTO finding (batch_id, seq, finding)
SELECT $1, u.seq, u.finding FROM unnest($2::integer[], $3::text[]) AS u(seq, finding)`;

const FINISH_STAGING = `/* finish-staging */
UPDATE batch SET state = 'running', row_count = $2, rows_without_invoice = $3, invoices = $4::integer, page_size = $5::integer,
  pages = ceil($4::integer::numeric / $5::integer)::integer, proof = $6
WHERE batch_id = $1 AND state = 'staging'
RETURNING ${BATCH_COLUMNS}`;

/** Parameters: batchId, rows, proof, now. No row of a refused file belongs to an invoice. */
const REFUSE_BATCH = `/* refuse-batch */
UPDATE batch SET state = 'refused', row_count = $2, rows_without_invoice = $2, proof = $3, finished_at = $4
WHERE batch_id = $1 AND state = 'staging'
RETURNING ${BATCH_COLUMNS}`;

/** Parameter: batchId. Counts its invoices, and the file rows of these invoices. */
const COUNT_STAGED = `/* count-staged */
SELECT count(*) AS invoices, coalesce(sum(cardinality(file_rows)), 0)::bigint AS rows FROM batch_invoice WHERE batch_id = $1`;

/**
 * Stages a file into the ledger. Every write checks its claim under a lock of the batch's row, so that the end of the
 * staging waits for each portion. A batch that is not in `staging` does not change.
 */
export function createStaging(database: Database) {
  const tidyTables = createTableTidying(database);
  return {
    /** Stores raw rows of a batch. Its methods throw `claim-lost` too. */
    rowStore: (claim: BatchClaim): RowStore => createBatchRowStore(database, claim),

    async restartStaging(claim: BatchClaim): Promise<void> {
      await whileStaging(claim, (queries) => forgetStaging(queries, claim.batchId, true));
    },

    /** Writes the batch's invoices, in set statements, by the ownership rule of docs/architecture.md (`attachmentOf`). */
    async stageInvoices(claim: BatchClaim, invoices: readonly StageInvoice[], now: number): Promise<void> {
      await database.transaction(async (queries) => {
        // Portions of one file have no invoice in common, so they can be written at the same time.
        const { batchId, application, state } = await shareBatch(queries, claim, readingLost);
        if (state === 'staging') await stageInvoices(queries, { batchId, application, now }, invoices);
      });
    },

    /**
     * Moves the batch from staging to running and deletes the raw rows. The page of an invoice is ceil(ordinal / pageSize).
     * @throws LoteError `ledger-conflict` when invoices and rows in the ledger are not those that were read
     */
    async finishStaging(claim: BatchClaim, staged: FinishStaging): Promise<BatchRecord> {
      const { batchId } = claim;
      const batch = await whileStaging(claim, async (queries) => {
        await checkComplete(queries, batchId, staged);
        await passOnLeftOver(queries, batchId);
        await writeFindings(queries, batchId, staged.fileFindings);
        await forgetRows(queries, batchId);
        const { rows, rowsWithoutInvoice, invoices, pageSize, proof } = staged;
        const params = [batchId, rows, rowsWithoutInvoice, invoices, pageSize, JSON.stringify(proof)];
        return queries.query<BatchRecord>(FINISH_STAGING, params);
      });
      await tidyTables(staged.rows);
      return batch;
    },

    async refuseBatch(claim: BatchClaim, refusal: RefuseBatch): Promise<BatchRecord> {
      const { batchId } = claim;
      const { rows, fileFindings, proof, now } = refusal;
      return whileStaging(claim, async (queries) => {
        await forgetStaging(queries, batchId, false);
        await writeFindings(queries, batchId, fileFindings);
        return queries.query<BatchRecord>(REFUSE_BATCH, [batchId, rows, JSON.stringify(proof), now]);
      });
    },
  };

  /** Runs `work` on a batch in staging and returns the result. Returns a batch past staging unchanged, for a step repeated after a crash. */
  async function whileStaging(
    claim: BatchClaim,
    work: (queries: Queries, batch: BatchRecord) => Promise<readonly BatchRecord[] | void>,
  ): Promise<BatchRecord> {
    return database.transaction(async (queries) => {
      const batch = await lockBatch(queries, claim, readingLost);
      if (batch.state !== 'staging') return batch;
      const [changed] = (await work(queries, batch)) ?? [];
      return changed === undefined ? batch : changed;
    });
  }
}

interface RefuseBatch extends Pick<FinishStaging, 'rows' | 'fileFindings' | 'proof'> {
  readonly now: number;
}

async function writeFindings(queries: Queries, batchId: string, findings: readonly Finding[]): Promise<void> {
  if (findings.length === 0) return;
  await queries.query(INSERT_FINDINGS, [
    batchId,
    column([...findings.keys()], (index) => index + 1),
    column(findings, (finding) => JSON.stringify(finding)),
  ]);
}

/** Silent loss of an invoice or a line is the second worst failure of Lote. The ledger must contain all that ingest read. */
async function checkComplete(queries: Queries, batchId: string, staged: FinishStaging): Promise<void> {
  const { invoices, rows, rowsWithoutInvoice } = staged;
  const [found] = await queries.query<{ invoices: number; rows: number }>(COUNT_STAGED, [batchId]);
  if (found?.invoices === invoices && found.rows + rowsWithoutInvoice === rows) return;
  throw new LoteError(
    'ledger-conflict',
    `Ending the staging of batch "${batchId}": all ${invoices} invoices and ${rows - rowsWithoutInvoice} rows read from the file must stand in the ledger, found ${found?.invoices ?? 0} invoices with ${found?.rows ?? 0} rows; nothing was sent; run the file again`,
  );
}

/** Rows to stage before another look at the tables: with a look after each of 100 files of 1 to 4 invoices, tidying took two thirds of all statement time. */
const LOOK_EVERY_ROWS = 1_000;

/** Tables of staging and sending that have grown by a tenth since the last tidying, which reads more the larger the ledger is. */
const GROWN_TABLES = `/* grown-tables */
SELECT relname AS name FROM pg_class
WHERE oid IN ('batch_row'::regclass, 'batch_row_order'::regclass, 'batch_invoice'::regclass, 'invoice'::regclass,
    'invoice_content'::regclass, 'invoice_body'::regclass, 'delivery'::regclass)
  AND pg_relation_size(oid) > 1.1 * relpages * current_setting('block_size')::integer
ORDER BY relname`;

/**
 * Updates statistics, without which the planner reads whole tables for a few invoices, and frees the room of deleted rows. PGlite has no autovacuum, and
 * PostgreSQL's comes too late for a table that grows within seconds. SKIP_LOCKED: one tidying process is enough.
 */
function tidyTables(tables: readonly string[]): string {
  return `/* tidy-tables */
VACUUM (ANALYZE, SKIP_LOCKED) ${tables.join(', ')}`;
}

/** Returns a function to call after each staged file, with the number of its rows. */
function createTableTidying(database: Database): (stagedRows: number) => Promise<void> {
  /** This process does not know of earlier stagings, so it looks after its first file. */
  let rowsSinceLook = LOOK_EVERY_ROWS;

  /** The staging is already committed, so a refused tidying must not fail it. */
  return async (stagedRows) => {
    rowsSinceLook += stagedRows;
    if (rowsSinceLook < LOOK_EVERY_ROWS) return;
    try {
      const grown = await database.query<{ name: string }>(GROWN_TABLES);
      if (grown.length > 0) await database.query(tidyTables(grown.map(({ name }) => name)));
      rowsSinceLook = 0;
    } catch (error) {
      if (!(error instanceof StatementFailure)) throw error;
    }
  };
}
