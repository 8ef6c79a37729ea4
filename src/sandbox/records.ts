/** An invoice is `processing` until the engine's final verdict. */
export type InvoiceStatus = 'processing' | 'issued' | 'failed';

/** The reason why an invoice failed, as the answer and the event show it. */
export interface InvoiceError {
  readonly code: string;
  readonly message: string;
}

/** An invoice without its body, which stays in the store, so that memory holds a few hundred bytes per invoice. */
export interface InvoiceRecord {
  readonly id: string;
  readonly applicationId: string;
  readonly merchantId: string;
  readonly idempotencyKey: string | null;
  /** Hash of the request's bytes as they were received: the books compare it to find duplicates. */
  readonly bodySha256: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly status: InvoiceStatus;
  readonly error: InvoiceError | null;
  readonly settledAt: number | null;
}

/** A merchant of an application. `body` is the request's text; `createdAt` is epoch milliseconds. */
export interface MerchantRecord {
  readonly id: string;
  readonly applicationId: string;
  readonly nif: string;
  /** Position in the application's list, from 0; the list's cursor refers to it. */
  readonly position: number;
  readonly idempotencyKey: string | null;
  readonly body: string;
  readonly bodySha256: string;
  readonly createdAt: number;
}

/** A webhook endpoint of an application, with the secret that signs its deliveries. */
export interface WebhookRecord {
  readonly id: string;
  readonly applicationId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly secret: string;
  readonly createdAt: number;
}

/** The two events of the published interface. */
export const EVENT_TYPES = ['invoice.issued', 'invoice.failed'] as const;

/** Type of an event of the published interface. */
export type EventType = (typeof EVENT_TYPES)[number];

/** A 500 that the service keeps under its key and repeats (fault `stored500`). */
export interface StoredErrorRecord {
  readonly applicationId: string;
  readonly idempotencyKey: string;
  readonly path: string;
  readonly bodySha256: string;
  readonly createdAt: number;
}

/** A pending delivery to one endpoint. */
export interface DeliveryRecord {
  readonly id: string;
  readonly applicationId: string;
  readonly webhookId: string;
  readonly invoiceId: string;
  /** The exact bytes that the sandbox signs and sends, as text. */
  readonly body: string;
  /** True for a delivery with a wrong signature, which is tried once (fault `webhookForged`). */
  readonly forged: boolean;
  readonly attempts: number;
  readonly nextAttemptAt: number;
}
