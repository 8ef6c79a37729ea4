import type { InvoiceState } from '../../domain/invoice-state.ts';
import type { Invoice, Reason } from '../../domain/invoice.ts';
import type { BatchInvoice } from '../../domain/records/batch-record.ts';
import type { RetryMove } from '../../domain/retry-decision.ts';
import { type Database, onlyRow } from '../database/database.ts';
import { arrayLiteral, reasonJson } from '../database/sql.ts';
import { batchInvoice, LINE_COLUMNS, type LineRow } from './lines.ts';
import { type InvoiceSearch, type InvoiceSearchResult, searchInvoices, type SearchBounds } from './search.ts';

/** One generation of an invoice: the current one, or an earlier one and how it ended. */
export interface InvoiceGeneration {
  readonly generation: number;
  readonly idempotencyKey: string;
  readonly state: InvoiceState;
  readonly serviceId: string | null;
  /** POSTs of this generation; for the current one, POSTs of all generations. */
  readonly attempts: number;
  /** Polls by GET that were planned and are done; null for an earlier generation. */
  readonly asks: number | null;
  /** When its bytes and key were frozen; null before, and after a purge. */
  readonly frozenAt: number | null;
  readonly firstSentAt: number | null;
  readonly acceptedAt: number | null;
  readonly settledAt: number | null;
  /** The last change of the current generation; null for an earlier one. */
  readonly changedAt: number | null;
  readonly reason: Reason | null;
  readonly flags: readonly string[];
  /** The bytes of its POST, once they were frozen; null before, and after a purge. */
  readonly body: string | null;
}

/** A delivery about an invoice, as it was stored. */
export interface StoredDelivery {
  readonly receivedAt: number;
  readonly type: string | null;
  readonly eventId: string | null;
  readonly serviceId: string;
  readonly verdict: 'issued' | 'failed' | null;
  readonly reason: Reason | null;
}

/** What a person, or the retry policy, did to an invoice or to a batch that holds it. */
export interface InvoiceAction {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Null: not known. */
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly acceptedDuplicateRisk: boolean;
  /** How it moved this invoice; null: it was about the batch as a whole. */
  readonly move: RetryMove | null;
}

/** Everything the ledger knows of one line of a batch. */
export interface InvoiceDetails {
  readonly line: BatchInvoice;
  /** What the file said, as it was or would be sent; null when a row of it is wrong, or after a purge. */
  readonly content: Invoice | null;
  /** Newest first; none when the line never was an invoice of the ledger. */
  readonly generations: readonly InvoiceGeneration[];
  /** In the order in which they were stored. */
  readonly deliveries: readonly StoredDelivery[];
  /** Every batch that holds this invoice, this one too; oldest first. */
  readonly batches: readonly HoldingBatch[];
  /** Oldest first, at most 200. */
  readonly actions: readonly InvoiceAction[];
}

/** A batch that holds an invoice, and where in its file. */
export interface HoldingBatch {
  readonly batchId: string;
  readonly file: string;
  readonly ordinal: number;
  /** When the file was read, epoch milliseconds. */
  readonly readAt: number;
  readonly rows: readonly number[];
}

/** batchId, ordinal: the line, and what the file said of the generation that this batch holds: null for an invalid invoice, and after a purge. */
const BATCH_LINE = `/* batch-line */
SELECT l.invoice_id, ${LINE_COLUMNS}, (
    SELECT c.content::json FROM invoice_content c WHERE c.invoice_id = l.invoice_id AND c.generation = l.generation
  ) AS content
FROM batch_line l
WHERE l.batch_id = $1 AND l.ordinal = $2`;

/** invoiceId: every generation with its frozen bytes, newest first. */
const INVOICE_GENERATIONS = `/* invoice-generations */
SELECT l.*, ${reasonJson('l')} AS reason, body.body, nullif(body.frozen_at, 0) AS frozen_at FROM (
  SELECT generation, idempotency_key, state, service_id, attempts, asks, first_sent_at, accepted_at, settled_at, changed_at,
    reason_code, reason_message, flags
  FROM invoice WHERE invoice_id = $1
  UNION ALL
  SELECT generation, idempotency_key, state, service_id, attempts, NULL, first_sent_at, NULL, settled_at, NULL,
    reason_code, reason_message, flags
  FROM invoice_generation WHERE invoice_id = $1
) l
LEFT JOIN invoice_body body ON body.invoice_id = $1 AND body.generation = l.generation
ORDER BY l.generation DESC`;

/** serviceIds; a service that repeats itself must not fill the page. */
const INVOICE_DELIVERIES = `/* invoice-deliveries */
SELECT received_at, event_type AS type, event_id, service_id, verdict, ${reasonJson('delivery')} AS reason
FROM delivery WHERE service_id = ANY($1::text[])
ORDER BY seq LIMIT 200`;

/** invoiceId: the batches that hold it, oldest first. */
const BATCHES_OF_INVOICE = `/* batches-of-invoice */
SELECT b.batch_id, b.file, bi.ordinal, b.started_at AS read_at, bi.file_rows AS rows
FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id
WHERE bi.invoice_id = $1 ORDER BY b.seq LIMIT 50`;

/** invoiceId: what was done to it, and to the batches that hold it. A retry that moved only others says nothing of it, nor does a download. */
const INVOICE_ACTIONS = `/* invoice-actions */
SELECT a.at, a.who, a.what, a.why, a.accepted_duplicate_risk, ai.move
FROM audit a
LEFT JOIN audit_invoice ai ON ai.action_id = a.action_id AND ai.invoice_id = $1
WHERE a.batch_id IN (SELECT batch_id FROM batch_invoice WHERE invoice_id = $1)
  AND (ai.invoice_id IS NOT NULL OR a.what <> 'retry') AND a.what <> 'download'
ORDER BY a.at, a.seq LIMIT 200`;

const LAST_DELIVERY = `/* last-delivery */
SELECT max(received_at) AS received_at FROM delivery WHERE received_at >= $1`;

/** Questions of people; Lote decides nothing by the answers. */
export function createLookup(database: Database) {
  return {
    /**
     * What indexes find (an exact reference, NIF or service id) at once, when it is not more than the results asked for;
     * everything else by looking at invoices one by one, the newest first, within the bounds.
     */
    searchInvoices: (search: InvoiceSearch, bounds: SearchBounds): Promise<InvoiceSearchResult> =>
      searchInvoices(database, search, bounds),

    async invoiceDetails(batchId: string, ordinal: number): Promise<InvoiceDetails | null> {
      const [row] = await database.query<DetailedRow>(BATCH_LINE, [batchId, ordinal]);
      if (row === undefined) return null;
      const { invoiceId, content, ...line } = row;
      return { line: batchInvoice(line), content, ...(await historyOf(database, invoiceId)) };
    },

    /** When the last webhook since then was stored; null: none. */
    lastDelivery: async (since: number): Promise<number | null> =>
      onlyRow(await database.query<{ receivedAt: number | null }>(LAST_DELIVERY, [since])).receivedAt,
  };
}

interface DetailedRow extends LineRow {
  readonly invoiceId: number | null;
  readonly content: Invoice | null;
}

async function historyOf(database: Database, id: number | null): Promise<Omit<InvoiceDetails, 'line' | 'content'>> {
  if (id === null) return { generations: [], deliveries: [], batches: [], actions: [] };
  const generations = await database.query<InvoiceGeneration>(INVOICE_GENERATIONS, [id]);
  const serviceIds = arrayLiteral(generations.flatMap(({ serviceId }) => serviceId ?? []));
  return {
    generations,
    deliveries: await database.query<StoredDelivery>(INVOICE_DELIVERIES, [serviceIds]),
    batches: await database.query<HoldingBatch>(BATCHES_OF_INVOICE, [id]),
    actions: await database.query<InvoiceAction>(INVOICE_ACTIONS, [id]),
  };
}
