import { BATCH_INVOICE_COLUMNS, BATCH_INVOICE_TABLES } from './batch-invoices-sql.ts';

/** One row of `SEARCHED_BATCHES`. */
export interface SearchedBatchRow {
  readonly batch_id: string;
  readonly invoices: number;
  readonly started_at: number;
}

/**
 * from, before, batch at which to go on (or null), how many: batches with invoices, newest first. The table has one row a
 * file, so that it needs no index of its own.
 */
export const SEARCHED_BATCHES = `/* searched-batches */
SELECT batch_id, invoices, started_at FROM batch
WHERE invoices > 0 AND started_at >= $1::bigint AND started_at < $2::bigint
  AND ($3::text IS NULL OR seq <= (SELECT seq FROM batch WHERE batch_id = $3::text))
ORDER BY seq DESC LIMIT $4`;

/**
 * batchId, ordinal behind which to begin, ordinal to end with, net or null, words or null, pattern of the words, pattern
 * of the words within a name or tax number of the content, limit. The primary key of `batch_invoice` gives the lines, that
 * of `invoice_content` their content: a search costs no writer an index. The plain pattern is the cheap one, so it goes first. No EXISTS: the
 * planner may hash it, and then reads the content of every invoice for each portion.
 */
export const SEARCHED_LINES = `/* searched-lines */
SELECT b.batch_id, b.application, b.file, b.started_at AS read_at, ${BATCH_INVOICE_COLUMNS}
FROM ${BATCH_INVOICE_TABLES}
WHERE bi.batch_id = $1 AND bi.ordinal > $2 AND bi.ordinal <= $3
  AND ($4::text IS NULL OR bi.net = $4::text)
  AND ($5::text IS NULL OR bi.merchant_nif = $5::text OR i.service_id = $5::text OR bi.invoice_ref ~ $6::text OR (
    SELECT bool_or(c.content ~ $6::text AND c.content ~ $7::text) FROM invoice_content c WHERE c.invoice_id = bi.invoice_id
  ))
ORDER BY bi.ordinal
LIMIT $8`;
