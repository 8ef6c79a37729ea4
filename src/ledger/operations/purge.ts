import type { PurgeLedger } from '../../domain/ports/ledger/purge-ledger.ts';
import type { Database, Queries } from '../database/database.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import {
  COUNT_PURGE,
  LOCK_PURGED_INVOICES,
  MARK_PURGED,
  OTHERS_OF_THAT_AGE,
  PURGE_STATEMENTS,
  PURGEABLE_BATCHES,
  PURGED_AT,
  PURGED_FILES,
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
        const ids = arrayLiteral(rows.map((row) => row.batch_id));
        if (!dryRun && rows.length > 0) await queries.query(LOCK_PURGED_INVOICES, [ids]);
        const purged = {
          batches: rows.map(({ batch_id, sha256 }) => ({ batchId: batch_id, sha256 })),
          contents: await countOf(queries, COUNT_PURGE.contents, ids),
          bodies: await countOf(queries, COUNT_PURGE.bodies, ids),
          findings: await countOf(queries, COUNT_PURGE.findings, ids),
          deliveries: await countOf(queries, COUNT_PURGE.deliveries, ids),
          others: (await queries.query<{ application: string }>(OTHERS_OF_THAT_AGE, [before, application])).map(
            (row) => row.application,
          ),
        };
        if (dryRun || rows.length === 0) return purged;
        for (const statement of PURGE_STATEMENTS) await queries.query(statement, [ids]);
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

async function countOf(queries: Queries, text: string, ids: string): Promise<number> {
  const [row] = await queries.query<{ n: number }>(text, [ids]);
  return row?.n ?? 0;
}
