import type { Database } from '../database/database.ts';
import { BATCH_INVOICE_TABLES, ISSUED_ELSEWHERE } from './batch-invoices-sql.ts';

/** batchId, epoch milliseconds. */
const ISSUED_BEFORE = `/* issued-before */
SELECT count(*) AS invoices
FROM ${BATCH_INVOICE_TABLES}
WHERE bi.batch_id = $1 AND (coalesce(bi.outcome, i.state) = 'already-issued'
  OR (coalesce(bi.outcome, i.state) = 'issued'
    AND (CASE WHEN bi.generation IS NULL THEN i.settled_at ELSE g.settled_at END < $2 OR ${ISSUED_ELSEWHERE})))`;

/** As `BatchLedger.issuedBefore` says. */
export async function issuedBefore(database: Database, batchId: string, at: number): Promise<number> {
  const [row] = await database.query<{ invoices: number }>(ISSUED_BEFORE, [batchId, at]);
  return row?.invoices ?? 0;
}
