/** An invoice is `processing` until the engine's final verdict. */
export type InvoiceStatus = 'processing' | 'issued' | 'failed';

/** The reason why an invoice failed, as the answer and the event show it. */
export interface InvoiceError {
  readonly code: string;
  readonly message: string;
}

/** What a request with a body and perhaps a key has created in an application. */
interface Created {
  readonly id: string;
  readonly applicationId: string;
  readonly idempotencyKey: string | null;
  /** The request's text, exactly as received. */
  readonly body: string;
  /** Hash of the request's bytes as they were received: the books compare it to find duplicates. */
  readonly bodySha256: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** An invoice of an application. */
export interface InvoiceRecord extends Created {
  readonly merchantId: string;
  readonly status: InvoiceStatus;
  readonly error: InvoiceError | null;
  readonly settledAt: number | null;
}

/** A merchant of an application. */
export interface MerchantRecord extends Created {
  readonly nif: string;
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
type StoredErrorRecord = Pick<MerchantRecord, 'applicationId' | 'bodySha256' | 'createdAt'> & {
  readonly idempotencyKey: string;
  readonly path: string;
};

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

/** All kinds of changes to the books. */
export type Change =
  | { readonly kind: 'merchant'; readonly merchant: MerchantRecord }
  | { readonly kind: 'invoice'; readonly invoice: InvoiceRecord }
  | { readonly kind: 'webhook'; readonly webhook: WebhookRecord }
  | { readonly kind: 'stored-error'; readonly storedError: StoredErrorRecord }
  | { readonly kind: 'settlement'; readonly settlement: Settled }
  /** A pending delivery: new, or failed and with the time of its next attempt. */
  | { readonly kind: 'delivery'; readonly delivery: DeliveryRecord }
  /** A finished delivery, which arrived or was given up. */
  | { readonly kind: 'delivery-done'; readonly delivery: DeliveryRecord };

/** The final verdict on one invoice. `error` is null if it was issued; `settledAt` is epoch milliseconds. */
export interface Settled {
  readonly invoiceId: string;
  readonly applicationId: string;
  readonly error: InvoiceError | null;
  readonly settledAt: number;
}

/** Stores the books of the sandbox as changes. Only one process may own a store at a time. */
export interface SandboxStore {
  /** Takes the store for this process, creates missing files and reads all changes. Read the result to its end. */
  open(): AsyncIterable<Change>;
  /** Stores all of the changes or none. They are durable when the promise resolves. */
  write(changes: readonly Change[]): Promise<void>;
  close(): Promise<void>;
}

/** Keeps books in memory, where a sandbox that is closed and started again with this store finds them. */
export function memoryStore(): SandboxStore {
  const changes: Change[] = [];
  return {
    async *open() {
      yield* changes;
    },
    async write(more) {
      changes.push(...more);
    },
    close: async () => {},
  };
}
