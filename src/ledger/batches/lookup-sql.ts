import { applicationOfDocument, applicationOfPastDocument, isOfApplication } from '../settling/same-application-sql.ts';
import { BATCH_COLUMNS } from './batch-columns-sql.ts';
import { BATCH_INVOICE_COLUMNS, BATCH_INVOICE_TABLES } from './batch-invoices-sql.ts';
import type { BatchInvoiceRow } from './batch-invoices-sql.ts';

/** application, sha256. */
export const BATCH_OF_FILE = `/* batch-of-file */
SELECT ${BATCH_COLUMNS} FROM batch WHERE application = $1 AND sha256 = $2`;

/** One result of `FIND_INVOICES`. */
export interface FoundInvoiceRow extends BatchInvoiceRow {
  readonly batch_id: string;
  readonly application: string;
  readonly file: string;
  readonly read_at: number;
}

/**
 * words, limit: lines by reference, merchant NIF or service id (of any generation). Each branch has an index of its own
 * and a limit of its own, so that a merchant of a million invoices costs no more than the answer.
 */
export const FIND_INVOICES = `/* find-invoices */
WITH known AS (
  SELECT invoice_id FROM invoice WHERE service_id = $1
  UNION SELECT invoice_id FROM invoice_generation WHERE service_id = $1
), hit AS (
  (SELECT batch_id, ordinal FROM batch_invoice WHERE invoice_ref = $1 LIMIT $2)
  UNION (SELECT batch_id, ordinal FROM batch_invoice WHERE merchant_nif = $1 LIMIT $2)
  UNION (SELECT batch_id, ordinal FROM batch_invoice WHERE invoice_id IN (SELECT invoice_id FROM known) LIMIT $2)
)
SELECT b.batch_id, b.application, b.file, b.started_at AS read_at, ${BATCH_INVOICE_COLUMNS}
FROM hit, ${BATCH_INVOICE_TABLES}
WHERE bi.batch_id = hit.batch_id AND bi.ordinal = hit.ordinal
ORDER BY b.seq DESC, bi.ordinal
LIMIT $2`;

/** The row of `BATCH_LINE`. `content` is JSON; it is null for an invalid invoice, and after a purge. */
export interface LineRow extends BatchInvoiceRow {
  readonly invoice_id: number | null;
  readonly content: string | null;
}

/** batchId, ordinal: the line, and what the file said of the generation that this batch holds. */
export const BATCH_LINE = `/* batch-line */
SELECT bi.invoice_id, ${BATCH_INVOICE_COLUMNS}, (
    SELECT c.content FROM invoice_content c WHERE c.invoice_id = bi.invoice_id AND c.generation = coalesce(bi.generation, i.generation)
  ) AS content
FROM ${BATCH_INVOICE_TABLES}
WHERE bi.batch_id = $1 AND bi.ordinal = $2`;

/**
 * One row of `INVOICE_GENERATIONS`. Times are epoch milliseconds; `body` is null when nothing was frozen, or after a
 * purge.
 */
export interface GenerationRow {
  readonly generation: number;
  readonly idempotency_key: string;
  readonly state: string;
  readonly service_id: string | null;
  readonly attempts: number;
  readonly asks: number | null;
  readonly frozen_at: number | null;
  readonly first_sent_at: number | null;
  readonly accepted_at: number | null;
  readonly settled_at: number | null;
  readonly changed_at: number | null;
  readonly reason_code: string | null;
  readonly reason_message: string | null;
  readonly flags: readonly string[];
  readonly body: string | null;
}

/** invoiceId: every generation with its frozen bytes, newest first. */
export const INVOICE_GENERATIONS = `/* invoice-generations */
SELECT l.*, body.body, nullif(body.frozen_at, 0) AS frozen_at FROM (
  SELECT invoice_id, generation, idempotency_key, state, service_id, attempts, asks, first_sent_at, accepted_at, settled_at, changed_at,
    reason_code, reason_message, flags
  FROM invoice WHERE invoice_id = $1
  UNION ALL
  SELECT invoice_id, generation, idempotency_key, state, service_id, attempts, NULL, first_sent_at, NULL, settled_at, NULL,
    reason_code, reason_message, flags
  FROM invoice_generation WHERE invoice_id = $1
) l
LEFT JOIN invoice_body body ON body.invoice_id = l.invoice_id AND body.generation = l.generation
ORDER BY l.generation DESC`;

/**
 * One row of `INVOICE_DELIVERIES`. `received_at` is epoch milliseconds; `verdict` is null for an event that says
 * nothing final.
 */
export interface DeliveryRow {
  readonly received_at: number;
  readonly event_type: string | null;
  readonly event_id: string | null;
  readonly service_id: string;
  readonly verdict: 'issued' | 'failed' | null;
  readonly reason_code: string | null;
  readonly reason_message: string | null;
}

/** serviceIds; a service that repeats itself must not fill the page. */
export const INVOICE_DELIVERIES = `/* invoice-deliveries */
SELECT received_at, event_type, event_id, service_id, verdict, reason_code, reason_message
FROM delivery d
WHERE service_id = ANY($1::text[])
  AND (${isOfApplication(applicationOfDocument('d.service_id'))} OR ${isOfApplication(applicationOfPastDocument('d.service_id'))})
ORDER BY seq LIMIT 200`;

/** invoiceId: the batches that hold it, oldest first. */
export const BATCHES_OF_INVOICE = `/* batches-of-invoice */
SELECT b.batch_id, b.file, bi.ordinal, b.started_at, bi.file_rows
FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id
WHERE bi.invoice_id = $1 ORDER BY b.seq LIMIT 50`;

/** A row of `BATCHES_OF_INVOICE`. */
export interface HoldingBatchRow {
  readonly batch_id: string;
  readonly file: string;
  readonly ordinal: number;
  readonly started_at: number;
  readonly file_rows: readonly number[];
}

/** A row of `INVOICE_TRIES`. */
export interface TryRow {
  readonly generation: number;
  readonly sent_at: number;
  readonly answered_at: number;
  readonly reason_code: string;
  readonly reason_message: string;
}

/** invoiceId: POSTs that brought no final word. */
export const INVOICE_TRIES = `/* invoice-tries */
SELECT generation, sent_at, answered_at, reason_code, reason_message
FROM invoice_try WHERE invoice_id = $1 ORDER BY sent_at LIMIT 200`;

/** A row of `INVOICE_ACTIONS`; `move` is null for an action about the batch as a whole. */
export interface ActionRow {
  readonly at: number;
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly accepted_duplicate_risk: boolean;
  readonly move: string | null;
}

/** invoiceId: what was done to it, and to the batches that hold it. A retry that moved only others says nothing of it, nor does a download. */
export const INVOICE_ACTIONS = `/* invoice-actions */
SELECT a.at, a.who, a.what, a.why, a.accepted_duplicate_risk, ai.move
FROM audit a
LEFT JOIN audit_invoice ai ON ai.action_id = a.action_id AND ai.invoice_id = $1
WHERE a.batch_id IN (SELECT batch_id FROM batch_invoice WHERE invoice_id = $1)
  AND (ai.invoice_id IS NOT NULL OR a.what <> 'retry') AND a.what <> 'download'
ORDER BY a.at, a.seq LIMIT 200`;

/** since. */
export const LAST_DELIVERY = `/* last-delivery */
SELECT max(received_at) AS received_at FROM delivery WHERE received_at >= $1`;
