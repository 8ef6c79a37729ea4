import type {
  DeliveryRecord,
  InvoiceError,
  InvoiceRecord,
  MerchantRecord,
  StoredErrorRecord,
  WebhookRecord,
} from './records.ts';

/** All kinds of changes to the books. */
export type Change =
  | { readonly kind: 'merchant'; readonly merchant: MerchantRecord }
  | { readonly kind: 'invoice'; readonly invoice: InvoiceRecord; readonly body: string }
  | { readonly kind: 'webhook'; readonly webhook: WebhookRecord }
  | { readonly kind: 'stored-error'; readonly storedError: StoredErrorRecord }
  | { readonly kind: 'settlement'; readonly settlement: Settlement }
  /** A pending delivery: new, or failed and with the time of its next attempt. */
  | { readonly kind: 'delivery'; readonly delivery: DeliveryRecord }
  /** A finished delivery, which arrived or was given up. */
  | { readonly kind: 'delivery-done'; readonly delivery: DeliveryRecord };

/** The final verdict on one invoice. `error` is null if it was issued; `settledAt` is epoch milliseconds. */
export interface Settlement {
  readonly invoiceId: string;
  readonly applicationId: string;
  readonly error: InvoiceError | null;
  readonly settledAt: number;
}

/** Stores the books of the sandbox as changes. Only one process may own a store at a time. */
export interface SandboxStore {
  /**
   * Takes the store for this process, creates missing files and reads all changes in order. Read the result to its end.
   */
  open(): AsyncIterable<Change>;
  /** Stores all of the changes or none. They are durable when the promise resolves. */
  write(changes: readonly Change[]): Promise<void>;
  /** Returns the body of an invoice, exactly as received. */
  invoiceBody(id: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Keeps books in memory. They are lost with the process, but not if a sandbox is closed and started again with this
 * store.
 */
export function memoryStore(): SandboxStore {
  const changes: Change[] = [];
  const bodies = new Map<string, string>();
  return {
    async *open() {
      yield* changes;
    },
    async write(more) {
      changes.push(...more);
      for (const change of more) if (change.kind === 'invoice') bodies.set(change.invoice.id, change.body);
    },
    async invoiceBody(id) {
      return bodies.get(id) ?? bodyMissing(id);
    },
    close: async () => {},
  };
}

/** Reports a missing body. @throws Error always */
export function bodyMissing(id: string): never {
  throw new Error(`Reading the body of ${id}: it must have been written, and it was not.`);
}
