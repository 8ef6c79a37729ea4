import type { BatchClaim, BatchWriter, NotedAction } from '../../domain/records/batch-record.ts';
import type { FileTotal, SavedTotalCheck } from '../../domain/records/total-check.ts';
import { lockBatch, readingLost } from '../batches/batch.ts';
import { type Database, onlyRow } from '../../database/database.ts';
import { writeNotedActions } from './audit.ts';

const EARLIER_TOTALS = `/* earlier-totals */
SELECT b.total::json AS total FROM batch b
WHERE b.application = $1 AND b.file_pattern = $2 AND b.batch_id <> $3 AND b.state = 'finished' AND b.total_check::json ->> 'kind' <> 'corrections'
  AND EXISTS (SELECT FROM batch_line l WHERE l.batch_id = b.batch_id AND l.state IN ('issued', 'already-issued'))
ORDER BY b.total_checked_at DESC, b.batch_id
LIMIT $4`;

const SAVE_TOTAL_CHECK = `/* save-total-check */
UPDATE batch SET file_pattern = $2, total = $3, total_check = $4, total_checked_at = $5, total_confirmed_at = NULL WHERE batch_id = $1`;

const TOTAL_CHECK = `/* total-check */
SELECT file_pattern AS pattern, total::json AS total, total_check::json AS "check", total_confirmed_at AS confirmed_at
FROM batch WHERE batch_id = $1 AND total_check IS NOT NULL`;

/** Parameter: batchId. An invoice whose first POST is older than the batch came from another batch. */
const HAS_SENT = `/* has-sent */
SELECT EXISTS (
  SELECT FROM live_line i JOIN batch b ON b.batch_id = i.batch_id
  WHERE i.batch_id = $1 AND i.owner_batch = $1
    AND CASE WHEN i.first_sent_at IS NULL THEN i.state NOT IN ('staged', 'held') ELSE i.first_sent_at >= b.started_at END
) AS found`;

const CONFIRM_TOTAL = `/* confirm-total */
UPDATE batch SET total_confirmed_at = $2 WHERE batch_id = $1 AND total_check IS NOT NULL AND total_confirmed_at IS NULL`;

/** Keeps totals of files and operators' decisions about them, for the check that a file is as large as earlier ones. */
export function createTotalChecks(database: Database) {
  return {
    /** Returns at most `limit` totals, newest first, of other finished batches of the pattern that have an issued invoice. Corrections files do not count. */
    async earlierTotals(of: {
      readonly application: string;
      readonly pattern: string;
      readonly batchId: string;
      readonly limit: number;
    }): Promise<readonly FileTotal[]> {
      const params = [of.application, of.pattern, of.batchId, of.limit];
      return (await database.query<{ total: FileTotal }>(EARLIER_TOTALS, params)).map(({ total }) => total);
    },

    /** Replaces an earlier check of the batch, and its confirmation. @throws LoteError `claim-lost` */
    async saveTotalCheck(
      claim: BatchClaim,
      { pattern, total, check, now }: Omit<SavedTotalCheck, 'confirmedAt'> & { readonly now: number },
    ): Promise<void> {
      await database.transaction(async (queries) => {
        const { batchId } = await lockBatch(queries, claim, readingLost);
        const values = [batchId, pattern, JSON.stringify(total), JSON.stringify(check), now];
        await queries.query(SAVE_TOTAL_CHECK, values);
      });
    },

    /** Returns null if the total of the batch was never checked. */
    totalCheck: async (batchId: string): Promise<SavedTotalCheck | null> =>
      (await database.query<SavedTotalCheck>(TOTAL_CHECK, [batchId]))[0] ?? null,

    /** Returns true if the batch itself has sent or frozen an invoice; invoices that other batches sent do not count. */
    hasSent: async (batchId: string): Promise<boolean> =>
      onlyRow(await database.query<{ found: boolean }>(HAS_SENT, [batchId])).found,

    /** Writes the actions into the audit, and the confirmation, in one transaction. The first confirmation stays. @throws LoteError `claim-lost` */
    async confirmTotal(
      writer: BatchWriter,
      { now, actions }: { readonly now: number; readonly actions: readonly NotedAction[] },
    ): Promise<void> {
      await database.transaction(async (queries) => {
        const { batchId } = await lockBatch(queries, writer);
        await writeNotedActions(queries, batchId, actions);
        await queries.query(CONFIRM_TOTAL, [batchId, now]);
      });
    },
  };
}
