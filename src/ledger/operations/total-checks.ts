import type { FileTotal, TotalCheck, TotalLedger } from '../../domain/ports/ledger/total-ledger.ts';
import { lockUnderClaim, lockUnderToken } from '../batches/claim-proof.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import type { Database } from '../database/database.ts';
import { writeNotedActions } from './audit.ts';

/** application, pattern, batchId that is left out, limit. */
const EARLIER_TOTALS = `/* earlier-totals */
SELECT t.invoices, t.net
FROM total_check t JOIN batch b ON b.batch_id = t.batch_id
WHERE t.application = $1 AND t.file_pattern = $2 AND t.batch_id <> $3 AND b.state = 'finished'
  AND t.result::jsonb ->> 'kind' <> 'corrections'
  AND EXISTS (
    SELECT FROM batch_invoice bi LEFT JOIN ${INVOICE_OF_LINE}
    WHERE bi.batch_id = t.batch_id AND coalesce(bi.outcome, i.state) IN ('issued', 'already-issued')
  )
ORDER BY t.checked_at DESC, t.batch_id
LIMIT $4`;

/** batchId, application, pattern, invoices, net, result, now. */
const SAVE_TOTAL_CHECK = `/* save-total-check */
INSERT INTO total_check (batch_id, application, file_pattern, invoices, net, result, checked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (batch_id) DO UPDATE SET file_pattern = excluded.file_pattern, invoices = excluded.invoices, net = excluded.net,
  result = excluded.result, checked_at = excluded.checked_at, confirmed_at = NULL`;

/** batchId. */
const TOTAL_CHECK = `/* total-check */
SELECT file_pattern, invoices, net, result, confirmed_at FROM total_check WHERE batch_id = $1`;

/** batchId. An invoice whose first POST is older than the batch came over from another one. */
const HAS_SENT = `/* has-sent */
SELECT EXISTS (
  SELECT FROM batch b
  JOIN batch_invoice bi ON bi.batch_id = b.batch_id
  JOIN ${INVOICE_OF_LINE}
  WHERE b.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1
    AND CASE WHEN i.first_sent_at IS NULL THEN i.state NOT IN ('staged', 'held') ELSE i.first_sent_at >= b.started_at END
) AS has_sent`;

/** batchId, now. */
const CONFIRM_TOTAL = `/* confirm-total */
UPDATE total_check SET confirmed_at = $2 WHERE batch_id = $1 AND confirmed_at IS NULL`;

interface TotalRow {
  readonly invoices: number;
  readonly net: string;
}

interface TotalCheckRow extends TotalRow {
  readonly file_pattern: string;
  readonly result: string;
  readonly confirmed_at: number | null;
}

/** Totals of files and what operators said about them, one row for each batch. */
export function createTotalChecks(database: Database): TotalLedger {
  return {
    async earlierTotals({ application, pattern, batchId, limit }) {
      const rows = await database.query<TotalRow>(EARLIER_TOTALS, [application, pattern, batchId, limit]);
      return rows.map(fileTotal);
    },
    async saveTotalCheck(claim, { pattern, total, check, now }) {
      await database.transaction(async (queries) => {
        const { batchId, application } = await lockUnderClaim(queries, claim);
        const values = [pattern, total.invoices, JSON.stringify(total.net), JSON.stringify(check), now];
        await queries.query(SAVE_TOTAL_CHECK, [batchId, application, ...values]);
      });
    },
    async totalCheck(batchId) {
      const [row] = await database.query<TotalCheckRow>(TOTAL_CHECK, [batchId]);
      if (row === undefined) return null;
      const check = JSON.parse(row.result) as TotalCheck;
      return { pattern: row.file_pattern, total: fileTotal(row), check, confirmedAt: row.confirmed_at };
    },
    async hasSent(batchId) {
      const [row] = await database.query<{ has_sent: boolean }>(HAS_SENT, [batchId]);
      return row?.has_sent === true;
    },
    async confirmTotal({ batchId, fencingToken }, { now, actions }) {
      await database.transaction(async (queries) => {
        await lockUnderToken(queries, batchId, fencingToken);
        await writeNotedActions(queries, batchId, actions);
        await queries.query(CONFIRM_TOTAL, [batchId, now]);
      });
    },
  };
}

function fileTotal({ invoices, net }: TotalRow): FileTotal {
  return { invoices, net: JSON.parse(net) as FileTotal['net'] };
}
