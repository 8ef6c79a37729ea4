import type { Finding } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchInvoice, BatchLedger, OutcomeCount } from '../../domain/ports/ledger.ts';
import { batchInvoice } from './batch-invoice.ts';
import { batchRecord, foundBatch } from './batch-record.ts';
import { lockUnderToken, shareUnderToken } from './claim-proof.ts';
import { claimBatch } from './claiming.ts';
import type { Database } from '../database/database.ts';
import type { BatchRow } from './batch-columns-sql.ts';
import type { BatchInvoiceRow } from './batch-invoices-sql.ts';
import { BATCH_INVOICES } from './batch-invoices-sql.ts';
import type { OutcomeRow } from './count-outcomes-sql.ts';
import { COUNT_OUTCOMES } from './count-outcomes-sql.ts';
import { FIND_BATCH } from './find-batch-sql.ts';
import { LIST_FINDINGS } from './findings-sql.ts';
import { LIST_BATCHES } from './list-batches-sql.ts';
import { NEXT_REVISION } from './next-revision-sql.ts';
import { OPEN_PAGES } from './open-pages-sql.ts';
import { REPEAT_UNKNOWN } from '../operations/reconciling-sql.ts';
import { RELEASE_HELD } from './release-held-sql.ts';
import { SET_BATCH_STATE } from './set-batch-state-sql.ts';

/** Lines of a report read at once: about a megabyte. */
const PORTION = 1_000;

type Batches = Pick<
  BatchLedger,
  | 'claimBatch'
  | 'findBatch'
  | 'listBatches'
  | 'setBatchState'
  | 'releaseHeld'
  | 'repeatUnknown'
  | 'openPages'
  | 'countOutcomes'
  | 'fileFindings'
  | 'batchInvoices'
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

    async listBatches(limit) {
      return (await database.query<BatchRow>(LIST_BATCHES, [limit])).map(batchRecord);
    },

    async setBatchState(batchId, state, now, fencingToken) {
      await database.transaction(async (queries) => {
        await lockUnderToken(queries, batchId, fencingToken);
        await queries.query(SET_BATCH_STATE, [batchId, state, now]);
      });
    },

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

    async fileFindings(batchId) {
      const rows = await database.query<{ finding: string }>(LIST_FINDINGS, [batchId]);
      return rows.map((row) => JSON.parse(row.finding) as Finding);
    },

    batchInvoices: (batchId) => readBatchInvoices(database, batchId),

    async nextRevision(batchId) {
      const [row] = await database.query<{ revision: number }>(NEXT_REVISION, [batchId]);
      return row?.revision ?? foundBatch(batchId, undefined).revision;
    },
  };
}

async function* readBatchInvoices(database: Database, batchId: string): AsyncGenerator<readonly BatchInvoice[]> {
  let after = 0;
  for (;;) {
    const rows = await database.query<BatchInvoiceRow>(BATCH_INVOICES, [batchId, after, PORTION]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(batchInvoice);
    if (rows.length < PORTION) return;
    after = last.ordinal;
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
