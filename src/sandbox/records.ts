/** Final words of the engine, and the one before them. */
export type InvoiceStatus = 'processing' | 'issued' | 'failed';

/** Why an invoice failed, as the service's answer and the event show it. */
export interface InvoiceError {
  readonly code: string;
  readonly message: string;
}

/** An invoice as the sandbox knows it; its body stays in the store, so that memory holds a few hundred bytes an invoice. */
export interface InvoiceRecord {
  readonly id: string;
  readonly applicationId: string;
  readonly merchantId: string;
  readonly idempotencyKey: string | null;
  /** Of the request's bytes as they came: what the books compare to find duplicates. */
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
  /** Place in the application's list, from 0: what the list's cursor counts. */
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

/** Type of a delivery of the published interface. */
export type EventType = (typeof EVENT_TYPES)[number];

/** A 500 that is kept under its key and answered for ever (fault `stored500`). */
export interface StoredErrorRecord {
  readonly applicationId: string;
  readonly idempotencyKey: string;
  readonly path: string;
  readonly bodySha256: string;
  readonly createdAt: number;
}

/** One delivery that is still owed to one endpoint. */
export interface DeliveryRecord {
  readonly id: string;
  readonly applicationId: string;
  readonly webhookId: string;
  readonly invoiceId: string;
  /** The exact bytes that are signed and sent, as text. */
  readonly body: string;
  /** A forged delivery carries a wrong signature and is tried once (fault `webhookForged`). */
  readonly forged: boolean;
  readonly attempts: number;
  readonly nextAttemptAt: number;
}
