import { PAGE_INVOICES } from '../batches/page-of-sql.ts';

export interface SilentRow {
  readonly invoice_id: number;
  readonly ordinal: number;
  readonly service_id: string;
  readonly accepted_at: number;
  readonly asks: number;
}

/** batchId, page, acceptedBefore, limit. */
export const SILENT = `/* silent */
SELECT i.invoice_id, bi.ordinal, i.service_id, i.accepted_at, i.asks
FROM batch_invoice bi
JOIN invoice i ON i.invoice_id = bi.invoice_id
WHERE i.invoice_id = ANY(${PAGE_INVOICES}) AND bi.batch_id = $1 AND bi.outcome IS NULL
  AND i.state = 'accepted' AND i.accepted_at < $3
ORDER BY i.asks, bi.ordinal
LIMIT $4`;
