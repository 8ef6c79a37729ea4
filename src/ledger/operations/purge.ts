import type { PurgeLedger, StayingBatch } from '../../domain/ports/ledger/purge-ledger.ts';
import type { Database, Queries, SqlValue } from '../database/database.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import {
  COUNT_NOBODYS,
  COUNT_PURGE,
  LOCK_PURGED_INVOICES,
  MARK_PURGED,
  OTHERS_OF_THAT_AGE,
  PURGE_FINDINGS,
  PURGE_INVOICES,
  PURGE_NOBODYS,
  PURGEABLE_BATCHES,
  PURGED_AT,
  PURGED_FILES,
  STAYING_BATCHES,
  DELIVERED_LATER,
} from './purge-sql.ts';

/** All of it in one transaction: a purge that is interrupted has removed nothing. */
export function createPurge(database: Database): PurgeLedger {
  return {
    async purge({ before, dryRun, now, application }) {
      return database.transaction(async (queries) => {
        const rows = await queries.query<{ batch_id: string; sha256: string }>(PURGEABLE_BATCHES, [
          before,
          application,
        ]);
        const later = await queries.query<{ invoice_id: number }>(DELIVERED_LATER, [before, application]);
        const ids = arrayLiteral(rows.map((row) => row.batch_id));
        const ofInvoices = [ids, arrayLiteral(later.map((row) => row.invoice_id))];
        const anyInvoice = rows.length + later.length > 0;
        if (!dryRun && anyInvoice) await queries.query(LOCK_PURGED_INVOICES, ofInvoices);
        const purged = {
          batches: rows.map(({ batch_id, sha256 }) => ({ batchId: batch_id, sha256 })),
          contents: await countOf(queries, COUNT_PURGE.contents, ofInvoices),
          bodies: await countOf(queries, COUNT_PURGE.bodies, ofInvoices),
          findings: await countOf(queries, COUNT_PURGE.findings, [ids]),
          deliveries:
            (await countOf(queries, COUNT_PURGE.deliveries, ofInvoices)) +
            (await countOf(queries, COUNT_NOBODYS, [before, application])),
          others: (await queries.query<{ application: string }>(OTHERS_OF_THAT_AGE, [before, application])).map(
            (row) => row.application,
          ),
          staying: await stayingBatches(queries, before, application),
        };
        if (dryRun) return purged;
        await queries.query(PURGE_NOBODYS, [before, application]);
        if (anyInvoice) for (const statement of PURGE_INVOICES) await queries.query(statement, ofInvoices);
        if (rows.length === 0) return purged;
        for (const statement of PURGE_FINDINGS) await queries.query(statement, [ids]);
        await queries.query(MARK_PURGED, [ids, now]);
        return purged;
      });
    },

    async purgedFiles(hashes, application) {
      const rows = await database.query<{ sha256: string }>(PURGED_FILES, [arrayLiteral(hashes), application]);
      return rows.map(({ sha256 }) => sha256);
    },

    async purgedAt(batchId) {
      const [row] = await database.query<{ purged_at: number | null }>(PURGED_AT, [batchId]);
      return row?.purged_at ?? null;
    },
  };
}

async function stayingBatches(
  queries: Queries,
  before: number,
  application: string | null,
): Promise<readonly StayingBatch[]> {
  const rows = await queries.query<{ batch_id: string } & Pick<StayingBatch, 'state' | 'invoices'>>(STAYING_BATCHES, [
    before,
    application,
  ]);
  return rows.map(({ batch_id: batchId, state, invoices }) => ({ batchId, state, invoices }));
}

async function countOf(queries: Queries, text: string, values: readonly SqlValue[]): Promise<number> {
  const [row] = await queries.query<{ n: number }>(text, values);
  return row?.n ?? 0;
}
