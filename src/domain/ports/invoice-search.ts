import type { BatchInvoice } from './ledger/batch-record.ts';

/** An invoice that a search found, with the batch it stands in. */
export interface FoundInvoice extends BatchInvoice {
  readonly batchId: string;
  /** Whose invoice it is. */
  readonly application: string;
  readonly file: string;
  /** When the file was read, epoch milliseconds. */
  readonly readAt: number;
}

/** What people remember of an invoice. All that is given must hold; at least one of the four is given. */
export interface InvoiceSearch {
  /**
   * A reference, a merchant's NIF or a service id as it is; or a part of a reference, of a customer's or merchant's name,
   * or of a customer's tax number. Accents and capitals count only in the exact ones.
   */
  readonly words?: string;
  /** Look for the words as a part, too, where an index would give an answer already. */
  readonly parts?: boolean;
  /** Net of the invoice, a canonical decimal. */
  readonly net?: string;
  /** Epoch milliseconds: the file was read at this moment or later. */
  readonly from?: number;
  /** Epoch milliseconds: the file was read before this moment. */
  readonly before?: number;
}

/** A line of a batch; a search that goes on begins behind it. */
export interface SearchPosition {
  readonly batchId: string;
  readonly ordinal: number;
}

/** How far one search goes. */
export interface SearchBounds {
  /** Results at most. */
  readonly results: number;
  /** Invoices that are looked at one by one, at most. */
  readonly lookedAt: number;
  /** Go on behind this line; left out: begin with the newest. */
  readonly after?: SearchPosition;
}

/** What a search found, and how far it went. */
export interface InvoiceSearchResult {
  /** Newest batch first. */
  readonly found: readonly FoundInvoice[];
  /** Invoices that were looked at one by one; 0 where indexes gave the answer. */
  readonly lookedAt: number;
  /** When the oldest file among them was read; null: none was looked at. */
  readonly backTo: number | null;
  /** Older invoices were not looked at: where to go on; null: everything was. */
  readonly next: SearchPosition | null;
}
