import { onPage, PAGE_INVOICES } from '../batches/page-of-sql.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';

export interface ProgressRow {
  readonly outcome: string;
  /** Null for an outcome of the batch's own. */
  readonly owned: boolean | null;
  /** Its state is the invoice's, and somebody still works on it. */
  readonly live: boolean;
  readonly invoices: number;
  readonly oldest_accepted_at: number | null;
  readonly newest_accepted_at: number | null;
}

/** batchId, page. */
export const PAGE_PROGRESS = `/* page-progress */
SELECT coalesce(bi.outcome, i.state) AS outcome, i.owner_batch = $1 AS owned, 
  bi.outcome IS NULL AND (i.state = 'accepted' OR i.owner_batch = $1 OR owner.state NOT IN ${CLOSED_BATCH_STATES}) AS live, count(*) AS invoices,
  min(i.accepted_at) AS oldest_accepted_at, max(i.accepted_at) AS newest_accepted_at
FROM batch_invoice bi
JOIN batch b ON b.batch_id = bi.batch_id
LEFT JOIN invoice i ON i.invoice_id = bi.invoice_id AND i.invoice_id = ANY(${PAGE_INVOICES})
LEFT JOIN batch owner ON owner.batch_id = i.owner_batch
WHERE bi.batch_id = $1 AND ${onPage('$2::integer')}
GROUP BY 1, 2, 3`;
