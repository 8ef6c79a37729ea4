import { failedEventOf } from '../settling/failed-event-sql.ts';
import type { UnconfirmedRow } from './unconfirmed-failures-sql.ts';

export interface ReportedRow extends UnconfirmedRow {
  readonly asks: number;
  /** Of all of them. */
  readonly reported: number;
}

/** batchId, limit. Drawn by lot: what the service does not confirm must not be asked for again and again while others wait. */
export const REPORTED_FAILURES = `/* reported-failures */
SELECT i.invoice_id, i.service_id, i.asks, event.reason_code, event.reason_message, count(*) OVER () AS reported
FROM batch_invoice bi
JOIN invoice i ON i.invoice_id = bi.invoice_id
JOIN LATERAL (${failedEventOf('i')}) event ON true
WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state = 'accepted'
ORDER BY random()
LIMIT $2`;
