import { LoteError } from '../../domain/errors.ts';
import { OUTCOMES, type Outcome } from '../../domain/invoice-state.ts';
import type { BatchLedger } from '../../domain/ports/ledger/batch-ledger.ts';
import type { BatchInvoice, BatchRecord, OutcomeCount } from '../../domain/ports/ledger/batch-record.ts';
import { BATCH_COLUMNS, type BatchRow } from './batch-columns-sql.ts';
import { batchInvoice } from './batch-invoice.ts';
import { BATCH_INVOICES, type BatchInvoiceRow, INVOICES_WITH } from './batch-invoices-sql.ts';
import { batchRecord, foundBatch } from './batch-record.ts';
import { lockUnderToken, shareUnderToken } from './claim-proof.ts';
import { claimBatch } from './claiming.ts';
import { createOpenBatches } from './open-batches.ts';
import { issuedBefore } from './issued-before.ts';
import { FIND_BATCH } from './find-batch-sql.ts';
import { createFindings } from './findings.ts';
import { INVOICE_OF_LINE, invoicesOfBatch, PAGE_OF } from './page-of-sql.ts';
import { contradictedInvoices } from './contradicted-invoices.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { CLOSED_BATCH_STATES, fromStates } from '../database/states.ts';
import { HAS_EARLIER_DOCUMENT, IS_DOUBTFUL } from '../settling/other-document-sql.ts';
import { HOLD_UNSENT } from '../sending/hold-unsent-sql.ts';
import { REPEAT_UNKNOWN } from '../operations/reconciling-sql.ts';

/**
 * batchId, now. Held invoices of the batch go again, and unsent ones whose owner is closed come over to it. One whose earlier generation
 * turned out to be issued, or accepted, never goes by itself; nor does one that may have been sent after the copy of a restored ledger.
 */
const RELEASE_HELD = `/* release-held */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  JOIN batch owner ON owner.batch_id = i.owner_batch
  WHERE i.invoice_id = ANY(${invoicesOfBatch(`i.state IN ('staged', 'held')`)})
    AND NOT ${HAS_EARLIER_DOCUMENT} AND NOT ${IS_DOUBTFUL}
    AND ((i.owner_batch = $1 AND i.state IN ${fromStates('release')})
      OR (i.owner_batch <> $1 AND owner.state IN ${CLOSED_BATCH_STATES} AND i.state IN ('staged', 'held')))
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'staged', owner_batch = $1, reason_code = NULL, reason_message = NULL, changed_at = $2
FROM target t
WHERE i.invoice_id = t.invoice_id AND i.state IN ('staged', 'held')
RETURNING i.invoice_id`;

/** batchId: the batch's balance. Sums are exact: numeric has no rounding. */
const COUNT_OUTCOMES = `/* count-outcomes */
SELECT coalesce(bi.outcome, i.state) AS outcome, bi.currency, count(*) AS invoices,
  trim_scale(coalesce(sum(bi.net::numeric), 0))::text AS net,
  count(*) FILTER (WHERE bi.net IS NULL) AS without_amount
FROM batch_invoice bi LEFT JOIN ${INVOICE_OF_LINE}
WHERE bi.batch_id = $1
GROUP BY 1, 2
ORDER BY 1, 2`;

interface OutcomeRow {
  readonly outcome: string;
  readonly currency: string | null;
  readonly invoices: number;
  readonly net: string;
  readonly without_amount: number;
}

/** batchId. What another running batch is about to send is waited for too: this batch's report must say how it ended. */
const OPEN_PAGES = `/* open-pages */
SELECT DISTINCT ${PAGE_OF} AS page
FROM batch_invoice bi
JOIN batch b ON b.batch_id = bi.batch_id
JOIN ${INVOICE_OF_LINE}
JOIN batch owner ON owner.batch_id = i.owner_batch
WHERE bi.batch_id = $1 AND b.page_size > 0 AND bi.outcome IS NULL
  AND (i.state = 'accepted' OR (i.state IN ('staged', 'sending') AND (i.owner_batch = $1 OR owner.state NOT IN ${CLOSED_BATCH_STATES})))
ORDER BY page`;

/**
 * batchId, state, now. Running and paused change freely and end as cancelled or finished; cancelled stays cancelled when
 * it finishes. Only a claim opens a closed batch again.
 */
const SET_BATCH_STATE = `/* set-batch-state */
UPDATE batch SET
  state = CASE WHEN state = 'cancelled' THEN state ELSE $2 END,
  finished_at = CASE WHEN $2 IN ('cancelled', 'finished') THEN $3::bigint END
WHERE batch_id = $1
  AND (state IN ('running', 'paused') OR (state = 'cancelled' AND $2 = 'finished'))`;

/** limit; newest first. */
const LIST_BATCHES = `/* list-batches */
SELECT ${BATCH_COLUMNS} FROM batch WHERE $2::text IS NULL OR application = $2
ORDER BY started_at DESC, seq DESC LIMIT $1`;

/** batchId. */
const NEXT_REVISION = `/* next-revision */
UPDATE batch SET revision = revision + 1 WHERE batch_id = $1 RETURNING revision`;

/** Lines of a report read at once: about a megabyte. */
const PORTION = 1_000;

type Batches = Pick<
  BatchLedger,
  | 'claimBatch'
  | 'findBatch'
  | 'listBatches'
  | 'newestOpenBatches'
  | 'setBatchState'
  | 'endBatch'
  | 'releaseHeld'
  | 'repeatUnknown'
  | 'openPages'
  | 'countOutcomes'
  | 'fileFindings'
  | 'decidingFindings'
  | 'contradictedInvoices'
  | 'issuedBefore'
  | 'noteTotals'
  | 'overruleTotals'
  | 'batchInvoices'
  | 'invoicesWith'
  | 'nextRevision'
>;

/** Batches as a whole: their claim, their state, and what the report reads. */
export function createBatches(database: Database): Batches {
  return {
    claimBatch: (claim) => claimBatch(database, claim),

    async findBatch(batchId) {
      const [row] = await database.query<BatchRow>(FIND_BATCH, [batchId]);
      return row === undefined ? null : batchRecord(row);
    },

    async listBatches(limit, application = null) {
      return (await database.query<BatchRow>(LIST_BATCHES, [limit, application])).map(batchRecord);
    },

    ...createOpenBatches(database),

    async setBatchState(batchId, state, now, fencingToken) {
      await database.transaction(async (queries) => {
        const batch = await lockUnderToken(queries, batchId, fencingToken);
        if (state === 'finished' || state === 'cancelled') requireRead(batch);
        await queries.query(SET_BATCH_STATE, [batchId, state, now]);
      });
    },

    endBatch: (batchId, end) => endBatch(database, batchId, end),

    async releaseHeld(batchId, now, fencingToken) {
      return database.transaction(async (queries) => {
        await shareUnderToken(queries, batchId, fencingToken);
        return (await queries.query(RELEASE_HELD, [batchId, now])).length;
      });
    },

    async repeatUnknown(batchId, frozenAfter, fencingToken) {
      return database.transaction(async (queries) => {
        await shareUnderToken(queries, batchId, fencingToken);
        return (await queries.query(REPEAT_UNKNOWN, [batchId, frozenAfter])).length;
      });
    },

    async openPages(batchId) {
      return (await database.query<{ page: number }>(OPEN_PAGES, [batchId])).map((row) => row.page);
    },

    async countOutcomes(batchId) {
      return (await database.query<OutcomeRow>(COUNT_OUTCOMES, [batchId])).map(outcomeCount);
    },

    ...createFindings(database),

    contradictedInvoices: (batchIds) => contradictedInvoices(database, batchIds),

    issuedBefore: (batchId, at) => issuedBefore(database, batchId, at),

    batchInvoices: (batchId) => readBatchInvoices(database, batchId),

    invoicesWith: (batchId, window) => invoicesWith(database, batchId, window),

    async nextRevision(batchId) {
      const [row] = await database.query<{ revision: number }>(NEXT_REVISION, [batchId]);
      return row?.revision ?? foundBatch(batchId, undefined).revision;
    },
  };
}

async function endBatch(
  database: Database,
  batchId: string,
  { state, unsent, now, fencingToken }: Parameters<BatchLedger['endBatch']>[1],
): Promise<void> {
  await database.transaction(async (queries) => {
    requireRead(await lockUnderToken(queries, batchId, fencingToken));
    // Another file that is read anew may have passed one on to this batch since it held what was not sent.
    await queries.query(HOLD_UNSENT, [batchId, unsent.code, unsent.message, now, null, null]);
    await queries.query(SET_BATCH_STATE, [batchId, state, now]);
  });
}

/** Its run reads the file before it ends the batch: a ledger that has it as being read is older than the run. */
function requireRead({ batchId, state }: BatchRecord): void {
  if (state !== 'staging') return;
  throw new LoteError(
    'ledger-conflict',
    `Ending batch "${batchId}": the ledger must know its file, but has it as still being read: it was restored from an older copy, or has lost its last transactions. ` +
      'This run ends. Reconciliation closes its batch; then drop the file again (docs/operations/backup.md)',
  );
}

async function invoicesWith(
  database: Database,
  batchId: string,
  { outcomes, after = 0, skip = 0, limit }: Parameters<BatchLedger['invoicesWith']>[1],
): Promise<readonly BatchInvoice[]> {
  // Ordinals have no gaps: where all are wanted, none has to be looked at to be left out.
  const isAll = outcomes.size === OUTCOMES.length;
  const rows = isAll
    ? await database.query<BatchInvoiceRow>(BATCH_INVOICES, [batchId, after + skip, limit])
    : await database.query<BatchInvoiceRow>(INVOICES_WITH, [batchId, arrayLiteral([...outcomes]), after, skip, limit]);
  return rows.map(batchInvoice);
}

async function* readBatchInvoices(database: Database, batchId: string): AsyncGenerator<readonly BatchInvoice[]> {
  let reading = readPortion(0);
  for (;;) {
    const rows = await reading;
    const last = rows.at(-1);
    if (last === undefined) return;
    const isLast = rows.length < PORTION;
    // The database reads the next portion while this one is worked on. Its failure is thrown where it is waited for.
    if (!isLast) reading = readPortion(last.ordinal);
    reading.catch(() => undefined);
    yield rows.map(batchInvoice);
    if (isLast) return;
  }

  function readPortion(after: number): Promise<readonly BatchInvoiceRow[]> {
    return database.query<BatchInvoiceRow>(BATCH_INVOICES, [batchId, after, PORTION]);
  }
}

function outcomeCount(row: OutcomeRow): OutcomeCount {
  return {
    outcome: row.outcome as Outcome,
    currency: row.currency,
    invoices: row.invoices,
    net: row.net,
    withoutAmount: row.without_amount,
  };
}
