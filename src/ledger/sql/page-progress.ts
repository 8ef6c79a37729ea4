import { onPage, PAGE_INVOICES } from './page-of.ts';

export interface ProgressRow {
  readonly outcome: string;
  /** Null for an outcome of the batch's own. */
  readonly owned: boolean | null;
  readonly live: boolean;
  readonly invoices: number;
  readonly oldest_accepted_at: number | null;
  readonly newest_accepted_at: number | null;
}

/** batchId, page. */
export const PAGE_PROGRESS = `/* page-progress */
SELECT coalesce(bi.outcome, i.state) AS outcome, i.owner_batch = $1 AS owned, bi.outcome IS NULL AS live, count(*) AS invoices,
  min(i.accepted_at) AS oldest_accepted_at, max(i.accepted_at) AS newest_accepted_at
FROM batch_invoice bi
JOIN batch b ON b.batch_id = bi.batch_id
LEFT JOIN invoice i ON i.invoice_id = bi.invoice_id AND i.invoice_id = ANY(${PAGE_INVOICES})
WHERE bi.batch_id = $1 AND ${onPage('$2::integer')}
GROUP BY 1, 2, 3`;
