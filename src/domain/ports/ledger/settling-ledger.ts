import type { InvoiceState, Outcome } from '../../invoice-state.ts';
import type { Reason } from '../../invoice.ts';
import type { FencingToken } from './batch-record.ts';

/** An invoice that reached a state that ends waiting, for every batch it belongs to. */
export interface SettledInvoice {
  readonly batchId: string;
  readonly workflowId: string;
  readonly page: number;
  readonly ordinal: number;
  readonly state: InvoiceState;
}

/** An accepted invoice without a final word, to be polled by GET. `acceptedAt` is epoch milliseconds. */
export interface PendingInvoice {
  readonly invoiceId: number;
  readonly ordinal: number;
  readonly serviceId: string;
  readonly acceptedAt: number;
  /** How many of the planned polls are done. */
  readonly asks: number;
}

/** What a GET said of an invoice. `now` is epoch milliseconds. */
export interface StatusUpdate {
  readonly invoiceId: number;
  /** The document that was polled: a correction may have given the invoice another one meanwhile. */
  readonly serviceId: string;
  readonly status: 'issued' | 'failed' | 'processing' | 'unreadable';
  /** `failed` is the word of a signed event alone: the GET that was to confirm it could not be read. */
  readonly unconfirmed?: boolean;
  readonly reason: Reason | null;
  /** How many of the planned polls are done by now. As many as before: the poll was out of turn. Left out: one more. */
  readonly asks?: number;
  readonly now: number;
}

/** Numbers of invoices of one page by what the page still waits for. Times are epoch milliseconds. */
export interface PageProgress {
  /** `staged`/`sending` that this batch owns. */
  readonly unsent: number;
  /** `accepted`, whoever owns them. */
  readonly accepted: number;
  /** `staged`/`sending` that another batch owns, and that is not closed. */
  readonly attached: number;
  /** `accepted` with a stored `failed` event: `unconfirmedFailures` lists them. */
  readonly reportedFailed: number;
  /** Earliest acceptance among the `accepted`; null when none. */
  readonly oldestAcceptedAt: number | null;
  readonly newestAcceptedAt: number | null;
  readonly counts: Readonly<Partial<Record<Outcome, number>>>;
  /** By the events that this reading applied before it counted. */
  readonly settled: readonly SettledInvoice[];
}

/** The way of accepted invoices to a final word, and the closing of pages and batches. */
export interface SettlingLedger {
  /** First applies events that are stored and not applied: the process that stored them may have died in between. */
  pageProgress(batchId: string, page: number): Promise<PageProgress>;
  /** How many `accepted` and `attached` invoices `pageProgress` would count, without a look at stored events: a third of its price. */
  pageOpen(batchId: string, page: number): Promise<number>;
  /** `accepted` invoices of a page accepted before `acceptedBefore` (any owner), fewest polls first. */
  pendingInvoices(
    batchId: string,
    page: number,
    acceptedBefore: number,
    limit: number,
  ): Promise<readonly PendingInvoice[]>;
  /** Counts the poll; `issued` and `failed` move the invoice by the transition table. */
  recordStatus(updates: readonly StatusUpdate[]): Promise<readonly SettledInvoice[]>;
  /**
   * End of a page: accepted -> unsettled where accepted before `acceptedBefore`; owned staged -> held; owned sending ->
   * unknown when mayExist, else held.
   */
  closePage(
    batchId: string,
    page: number,
    close: {
      readonly acceptedBefore: number;
      readonly reason: Reason;
      /** Of what was never tried; left out: `reason`. */
      readonly unsent?: Reason;
      /** Of what was handed out, and of which no POST is known that may have created a document; left out: as all others. */
      readonly unanswered?: Reason | undefined;
      readonly now: number;
      readonly fencingToken?: FencingToken;
    },
  ): Promise<void>;
  /** End of a batch that runs: the same for whatever it owns and a failed page left open. Returns how many. */
  closeBatch(
    batchId: string,
    close: {
      readonly reason: Reason;
      /** As of a page. */
      readonly unanswered?: Reason | undefined;
      readonly now: number;
      readonly fencingToken?: FencingToken;
    },
  ): Promise<number>;
}
