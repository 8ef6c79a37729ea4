import type { Reason } from '../../invoice.ts';
import type { SettledInvoice } from './settling-ledger.ts';

/** One webhook delivery with a valid signature, as it is stored. `receivedAt` is epoch milliseconds. */
export interface RecordDelivery {
  /** SHA-256 (hex) of the delivery, and of what tells its events apart: duplicates are stored once. */
  readonly sha256: string;
  readonly raw: Uint8Array;
  readonly receivedAt: number;
  /** Of several applications, the one whose receiver took it: only its invoices hear of it. Left out: there is one. */
  readonly application?: string;
  /** null: correctly signed but unreadable; stored, and an alert for the report. */
  readonly event: {
    readonly type: string;
    readonly eventId: string | null;
    readonly serviceId: string | null;
    /** From the profile; null for an event type that says nothing final. */
    readonly verdict: 'issued' | 'failed' | null;
    readonly reason: Reason | null;
  } | null;
}

/** Numbers of deliveries that were stored now, and that had been stored before (same SHA-256). */
export interface StoredDeliveries {
  readonly stored: number;
  readonly duplicates: number;
}

/** What applying stored deliveries changed, and which invoices must now be polled. */
export interface AppliedDeliveries {
  readonly settled: readonly SettledInvoice[];
  /** Ids of invoices whose `failed` event waits for a GET's confirmation. */
  readonly toConfirm: readonly { readonly invoiceId: number; readonly serviceId: string }[];
  /** Service ids of issued invoices that no event calls issued, with a `failed` event; left out: none. */
  readonly contradicted?: readonly string[];
}

export type DeliveryResult = StoredDeliveries & AppliedDeliveries;

/** Each counted to 10,000 at most. */
export interface DeliveryTrouble {
  /** Correctly signed, and neither an event nor JSON. */
  readonly unreadable: number;
  /** Final words about service ids that no invoice has, nor ever had. */
  readonly unknownIds: number;
}

/** An accepted invoice of which a signed event says that it failed. */
export interface ReportedFailure {
  readonly invoiceId: number;
  readonly serviceId: string;
  readonly reason: Reason | null;
  readonly asks: number;
}

/** Deliveries of the service: stored as they came, then applied. */
export interface DeliveryLedger {
  /** Stores the deliveries and commits. What is not applied after that, `pageProgress` applies. */
  storeDeliveries(deliveries: readonly RecordDelivery[]): Promise<StoredDeliveries>;
  /**
   * Applies what is stored about these service ids, in a new snapshot. Unknown ids stay unmatched and are applied by
   * recordSends. With an application, ids of documents of another one are left alone.
   */
  applyDeliveries(serviceIds: readonly string[], application?: string | null): Promise<AppliedDeliveries>;
  /** The one, then the other. */
  recordDeliveries(deliveries: readonly RecordDelivery[]): Promise<DeliveryResult>;
  /** Accepted invoices with a stored `failed` event that no GET has confirmed. */
  unconfirmedFailures(
    batchId: string,
    page: number,
    limit: number,
  ): Promise<readonly { readonly invoiceId: number; readonly serviceId: string; readonly reason: Reason | null }[]>;
  /**
   * The same for all invoices that the batch owns: a random sample of at most `limit`. `reported` is how many there
   * are.
   */
  reportedFailures(
    batchId: string,
    limit: number,
  ): Promise<{ readonly reported: number; readonly invoices: readonly ReportedFailure[] }>;
  unmatchedDeliveries(): Promise<number>;
  /** Deliveries received since then (epoch milliseconds) that an operator should check. */
  deliveryTrouble(since: number, application?: string | null): Promise<DeliveryTrouble>;
}
