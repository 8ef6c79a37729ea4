import type { InvoiceState } from '../../domain/invoice-state.ts';
import type { Invoice, Reason } from '../../domain/invoice.ts';
import type { BatchInvoice } from '../../domain/records/batch-record.ts';
import type { RetryMove } from '../../domain/retry-decision.ts';
import { type Database, onlyRow } from '../../database/database.ts';
import { arrayLiteral, reasonJson } from '../sql.ts';
import { LINE_COLUMNS } from './lines.ts';
import { type InvoiceSearch, type InvoiceSearchResult, searchInvoices, type SearchBounds } from './search.ts';

/** One generation of an invoice: the current one, or an earlier one and how it ended. */
export interface InvoiceGeneration {
  readonly generation: number;
  readonly idempotencyKey: string;
  readonly state: InvoiceState;
  readonly serviceId: string | null;
  /** POSTs of this generation; for the current generation, POSTs of all generations. */
  readonly attempts: number;
  /** The number of planned polls by GET that are done; null for an earlier generation. */
  readonly asks: number | null;
  /** When Lote froze its bytes and key; null before that, and after a purge. */
  readonly frozenAt: number | null;
  readonly firstSentAt: number | null;
  readonly acceptedAt: number | null;
  readonly settledAt: number | null;
  /** The last change of the current generation; null for an earlier one. */
  readonly changedAt: number | null;
  readonly reason: Reason | null;
  readonly flags: readonly string[];
  /** The bytes of its POST; null before Lote freezes them, and after a purge. */
  readonly body: string | null;
}

/** A stored delivery about an invoice. */
export interface StoredDelivery {
  readonly receivedAt: number;
  readonly type: string | null;
  readonly eventId: string | null;
  readonly serviceId: string;
  readonly verdict: 'issued' | 'failed' | null;
  readonly reason: Reason | null;
}

/** An action of a person, or of the retry policy, on an invoice or on a batch that holds the invoice. */
export interface InvoiceAction {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Null when the actor is unknown. */
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly acceptedDuplicateRisk: boolean;
  /** How the action moved this invoice; null when the action was about the batch as a whole. */
  readonly move: RetryMove | null;
}

/** Everything the ledger knows of one line of a batch. */
export interface InvoiceDetails {
  readonly line: BatchInvoice;
  /** The content that was or would be sent, as the file gave it; null when a row of it is wrong, or after a purge. */
  readonly content: Invoice | null;
  /** Newest first; empty when the line never was an invoice of the ledger. */
  readonly generations: readonly InvoiceGeneration[];
  /** In the order in which Lote stored them. */
  readonly deliveries: readonly StoredDelivery[];
  /** All batches that hold this invoice, including this one; oldest first. */
  readonly batches: readonly HoldingBatch[];
  /** Oldest first, at most 200. */
  readonly actions: readonly InvoiceAction[];
}

/** A batch that holds an invoice, with the invoice's place in the file. */
export interface HoldingBatch {
  readonly batchId: string;
  readonly file: string;
  readonly ordinal: number;
  /** When Lote read the file, epoch milliseconds. */
  readonly readAt: number;
  readonly rows: readonly number[];
}

/** Parameters: batchId, ordinal. Reads the line and the content of its generation. The content is null for an invalid invoice, and after a purge. */
const BATCH_LINE = `/* batch-line */
SELECT l.invoice_id, ${LINE_COLUMNS}, (
    SELECT c.content::json FROM invoice_content c WHERE c.invoice_id = l.invoice_id AND c.generation = l.generation
  ) AS content
FROM batch_line l
WHERE l.batch_id = $1 AND l.ordinal = $2`;

/** Parameter: invoiceId. Reads all generations with their frozen bytes, newest first. */
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

/** Parameter: serviceIds. The limit keeps a service that repeats its events from filling the page. */
const INVOICE_DELIVERIES = `/* invoice-deliveries */
SELECT received_at, event_type AS type, event_id, service_id, verdict, ${reasonJson('delivery')} AS reason
FROM delivery WHERE service_id = ANY($1::text[])
ORDER BY seq LIMIT 200`;

/** Parameter: invoiceId. Lists the batches that hold the invoice, oldest first. */
const BATCHES_OF_INVOICE = `/* batches-of-invoice */
SELECT b.batch_id, b.file, bi.ordinal, b.started_at AS read_at, bi.file_rows AS rows
FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id
WHERE bi.invoice_id = $1 ORDER BY b.seq LIMIT 50`;

/** Parameter: invoiceId. Lists actions on the invoice and on the batches that hold it. Leaves out downloads, and retries that did not move this invoice. */
const INVOICE_ACTIONS = `/* invoice-actions */
SELECT a.at, a.who, a.what, a.why, a.accepted_duplicate_risk, ai.move
FROM audit a
LEFT JOIN audit_invoice ai ON ai.action_id = a.action_id AND ai.invoice_id = $1
WHERE a.batch_id IN (SELECT batch_id FROM batch_invoice WHERE invoice_id = $1)
  AND (ai.invoice_id IS NOT NULL OR a.what <> 'retry') AND a.what <> 'download'
ORDER BY a.at, a.seq LIMIT 200`;

const LAST_DELIVERY = `/* last-delivery */
SELECT max(received_at) AS received_at FROM delivery WHERE received_at >= $1`;

/** Answers questions of people; Lote makes no decision from these answers. */
export function createLookup(database: Database) {
  return {
    /**
     * Searches with indexes first (an exact reference, NIF or service id) and returns those results if they fit the
     * limit. Otherwise it looks at invoices one by one, newest first, within the bounds.
     */
    searchInvoices: (search: InvoiceSearch, bounds: SearchBounds): Promise<InvoiceSearchResult> =>
      searchInvoices(database, search, bounds),

    async invoiceDetails(batchId: string, ordinal: number): Promise<InvoiceDetails | null> {
      const [row] = await database.query<DetailedRow>(BATCH_LINE, [batchId, ordinal]);
      if (row === undefined) return null;
      const { invoiceId, content, ...line } = row;
      return { line, content, ...(await historyOf(database, invoiceId)) };
    },

    /** Returns when the newest webhook since `since` was stored (epoch milliseconds), or null if there is none. */
    lastDelivery: async (since: number): Promise<number | null> =>
      onlyRow(await database.query<{ receivedAt: number | null }>(LAST_DELIVERY, [since])).receivedAt,
  };
}

interface DetailedRow extends BatchInvoice {
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
