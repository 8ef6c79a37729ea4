import { INVOICE_OF_LINE, LINES_OF_PAGE } from '../batches/page-of-sql.ts';
import { failedEventOf } from '../settling/failed-event-sql.ts';

/** One row of `REPORTED_FAILURES`. */
export interface ReportedRow extends UnconfirmedRow {
  readonly asks: number;
  /** Of all of them. */
  readonly reported: number;
}

/**
 * batchId, limit. A random sample: invoices that the service does not confirm must not keep others from being polled.
 */
export const REPORTED_FAILURES = `/* reported-failures */
SELECT i.invoice_id, i.service_id, i.asks, event.reason_code, event.reason_message, count(*) OVER () AS reported
FROM batch_invoice bi
JOIN ${INVOICE_OF_LINE}
JOIN LATERAL (${failedEventOf('i')}) event ON true
WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND i.owner_batch = $1 AND i.state = 'accepted'
ORDER BY random()
LIMIT $2`;

/** One row of `UNCONFIRMED_FAILURES`: an accepted invoice with a stored `failed` event. */
export interface UnconfirmedRow {
  readonly invoice_id: number;
  readonly service_id: string;
  readonly reason_code: string | null;
  readonly reason_message: string | null;
}

/** batchId, page, limit. */
export const UNCONFIRMED_FAILURES = `/* unconfirmed-failures */
SELECT i.invoice_id, i.service_id, event.reason_code, event.reason_message
FROM batch_invoice bi
JOIN ${INVOICE_OF_LINE}
JOIN LATERAL (${failedEventOf('i')}) event ON true
WHERE ${LINES_OF_PAGE} AND bi.outcome IS NULL AND i.state = 'accepted'
ORDER BY i.asks, bi.ordinal
LIMIT $3`;
