import type {
  DeliveryRecord,
  InvoiceError,
  InvoiceRecord,
  MerchantRecord,
  StoredErrorRecord,
  WebhookRecord,
} from '../records.ts';

/** Everything that can happen to the books, one kind a table column set. */
export type Change =
  | { readonly kind: 'merchant'; readonly merchant: MerchantRecord }
  | { readonly kind: 'invoice'; readonly invoice: InvoiceRecord; readonly body: string }
  | { readonly kind: 'webhook'; readonly webhook: WebhookRecord }
  | { readonly kind: 'stored-error'; readonly storedError: StoredErrorRecord }
  | { readonly kind: 'settlement'; readonly settlement: Settlement }
  | { readonly kind: 'delivery'; readonly delivery: DeliveryRecord }
  /** Tried in vain; the record holds the next try. */
  | { readonly kind: 'delivery-failed'; readonly delivery: DeliveryRecord }
  /** Nothing is owed any more: it arrived, or was given up. */
  | { readonly kind: 'delivery-done'; readonly delivery: DeliveryRecord };

/** The final word of one invoice. `error` is null when it was issued; `settledAt` is epoch milliseconds. */
export interface Settlement {
  readonly invoiceId: string;
  readonly applicationId: string;
  readonly error: InvoiceError | null;
  readonly settledAt: number;
}

/** What a store gives back when it is opened: all of it, but the bodies only of what is still processing. */
export interface StoredBooks {
  readonly merchants: readonly MerchantRecord[];
  readonly invoices: readonly InvoiceRecord[];
  readonly processingBodies: ReadonlyMap<string, string>;
  readonly webhooks: readonly WebhookRecord[];
  readonly storedErrors: readonly StoredErrorRecord[];
  readonly deliveries: readonly DeliveryRecord[];
}

/** Where the sandbox keeps its books; one process owns a store at a time. */
export interface SandboxStore {
  /** Takes the store for this process, creates what is missing and reads it. */
  open(): Promise<StoredBooks>;
  /** All of the changes or none; they are durable when the promise resolves. */
  write(changes: readonly Change[]): Promise<void>;
  /** The body of a stored invoice, exactly as it came. */
  invoiceBody(id: string): Promise<string>;
  close(): Promise<void>;
}
