import { CONTRADICTIONS_OF_LINE } from './contradictions-sql.ts';
import { INVOICE_OF_LINE, PAGE_OF } from './page-of-sql.ts';

/**
 * Row of `BATCH_INVOICE_COLUMNS`. `findings` is JSON, times are epoch milliseconds. What an invoice of the ledger would
 * give is null for an invalid one.
 */
export interface BatchInvoiceRow {
  readonly ordinal: number;
  readonly page: number;
  readonly invoice_ref: string;
  readonly merchant_nif: string;
  readonly file_rows: readonly number[];
  readonly currency: string | null;
  readonly net: string | null;
  readonly state: string;
  readonly findings: string | null;
  readonly service_id: string | null;
  readonly idempotency_key: string | null;
  readonly generation: number | null;
  readonly attempts: number | null;
  readonly reason_code: string | null;
  readonly reason_message: string | null;
  readonly flags: readonly string[] | null;
  readonly contradictions: readonly string[];
  readonly sent_at: number | null;
  readonly settled_at: number | null;
  readonly issued_elsewhere: boolean;
}

/**
 * Whether another batch owns what a line shows as issued. The ledger keeps no owner of a generation that was corrected and turned out to be issued
 * after all: there the first of the batches that held it counts as the one.
 */
export const ISSUED_ELSEWHERE = `CASE
  WHEN coalesce(bi.outcome, i.state) <> 'issued' THEN false
  WHEN bi.generation IS NULL THEN i.owner_batch <> bi.batch_id
  ELSE EXISTS (
    SELECT 1 FROM batch_invoice held JOIN batch holder ON holder.batch_id = held.batch_id
    WHERE held.invoice_id = bi.invoice_id AND held.generation = bi.generation AND held.outcome = 'issued' AND holder.seq < b.seq)
  END`;

/**
 * What a line of a batch shows. Where a later batch corrected the content (`bi.generation`), the generation that this batch held is shown,
 * as it ended.
 */
export const BATCH_INVOICE_COLUMNS = `bi.ordinal, CASE WHEN b.page_size > 0 THEN ${PAGE_OF} ELSE 0 END AS page, bi.invoice_ref, bi.merchant_nif, bi.file_rows,
  bi.currency, bi.net, coalesce(bi.outcome, i.state) AS state, bi.findings,
  CASE WHEN bi.generation IS NULL THEN i.service_id ELSE g.service_id END AS service_id,
  CASE WHEN bi.generation IS NULL THEN i.idempotency_key ELSE g.idempotency_key END AS idempotency_key,
  coalesce(bi.generation, i.generation) AS generation,
  CASE WHEN bi.generation IS NULL THEN i.attempts ELSE g.attempts END AS attempts,
  coalesce(bi.reason_code, CASE WHEN bi.generation IS NULL THEN i.reason_code ELSE g.reason_code END) AS reason_code,
  coalesce(bi.reason_message, CASE WHEN bi.generation IS NULL THEN i.reason_message ELSE g.reason_message END) AS reason_message,
  CASE WHEN bi.generation IS NULL THEN i.flags ELSE g.flags || '{corrected-by-later-batch}'::text[] END AS flags,
  ${CONTRADICTIONS_OF_LINE} AS contradictions,
  CASE WHEN bi.generation IS NULL THEN i.first_sent_at ELSE g.first_sent_at END AS sent_at,
  CASE WHEN bi.generation IS NULL THEN i.settled_at ELSE g.settled_at END AS settled_at,
  ${ISSUED_ELSEWHERE} AS issued_elsewhere`;

/** Where those columns come from. */
export const BATCH_INVOICE_TABLES = `batch_invoice bi
JOIN batch b ON b.batch_id = bi.batch_id
LEFT JOIN ${INVOICE_OF_LINE}
LEFT JOIN invoice_generation g ON g.invoice_id = bi.invoice_id AND g.generation = bi.generation`;

/** batchId, ordinal after which to go on, limit. */
export const BATCH_INVOICES = `/* batch-invoices */
SELECT ${BATCH_INVOICE_COLUMNS}
FROM ${BATCH_INVOICE_TABLES}
WHERE bi.batch_id = $1 AND bi.ordinal > $2
ORDER BY bi.ordinal
LIMIT $3`;

/**
 * batchId, outcomes, ordinal behind which to begin, how many of them to skip, limit. Only the lines that are shown are joined
 * with their generations.
 */
export const INVOICES_WITH = `/* invoices-with */
WITH chosen AS (
  SELECT bi.ordinal
  FROM batch_invoice bi LEFT JOIN ${INVOICE_OF_LINE}
  WHERE bi.batch_id = $1 AND coalesce(bi.outcome, i.state) = ANY($2::text[]) AND bi.ordinal > $3
  ORDER BY bi.ordinal
  OFFSET $4 LIMIT $5
)
SELECT ${BATCH_INVOICE_COLUMNS}
FROM chosen, ${BATCH_INVOICE_TABLES}
WHERE bi.batch_id = $1 AND bi.ordinal = chosen.ordinal
ORDER BY bi.ordinal`;
