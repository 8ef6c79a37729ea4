import type { Invoice, Reason } from '../invoice.ts';
import type { InvoiceState } from '../invoice-state.ts';
import type { BatchInvoice, BatchRecord, InvoiceTry } from './ledger/batch-record.ts';
import type { RetryMove } from '../retry-decision.ts';
import type { FoundInvoice, InvoiceSearch, InvoiceSearchResult, SearchBounds } from './invoice-search.ts';

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

/** A POST of a generation that brought no final word. */
export interface OpenTry extends InvoiceTry {
  readonly generation: number;
}

/** What somebody, or the retry policy, did to an invoice or to a batch that holds it. */
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
  readonly tries: readonly OpenTry[];
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

/** Questions of people; nothing in Lote decides by their answers. */
export interface InvoiceLookup {
  /** The batch of these bytes, under whatever name they came. */
  batchOfFile(application: string, sha256: string): Promise<BatchRecord | null>;
  /** Invoices whose reference, merchant NIF or service id is `words`, exactly; newest batch first. */
  findInvoices(words: string, limit: number): Promise<readonly FoundInvoice[]>;
  /**
   * What indexes find (an exact reference, NIF or service id) at once, when it is not more than the results asked for;
   * everything else by looking at invoices one by one, the newest first, within the bounds.
   */
  searchInvoices(search: InvoiceSearch, bounds: SearchBounds): Promise<InvoiceSearchResult>;
  invoiceDetails(batchId: string, ordinal: number): Promise<InvoiceDetails | null>;
  /** When the last webhook since then was stored; null: none. */
  lastDelivery(since: number): Promise<number | null>;
}
