import type {
  DeliveryRecord,
  InvoiceError,
  InvoiceRecord,
  MerchantRecord,
  StoredErrorRecord,
  WebhookRecord,
} from './records.ts';

/** Everything that can happen to the books. */
export type Change =
  | { readonly kind: 'merchant'; readonly merchant: MerchantRecord }
  | { readonly kind: 'invoice'; readonly invoice: InvoiceRecord; readonly body: string }
  | { readonly kind: 'webhook'; readonly webhook: WebhookRecord }
  | { readonly kind: 'stored-error'; readonly storedError: StoredErrorRecord }
  | { readonly kind: 'settlement'; readonly settlement: Settlement }
  /** Owed: new, or tried in vain, so that the record holds the next try. */
  | { readonly kind: 'delivery'; readonly delivery: DeliveryRecord }
  /** Nothing is owed any more: it arrived, or was given up. */
  | { readonly kind: 'delivery-done'; readonly delivery: DeliveryRecord };

/** The final word of one invoice. `error` is null when it was issued; `settledAt` is epoch milliseconds. */
export interface Settlement {
  readonly invoiceId: string;
  readonly applicationId: string;
  readonly error: InvoiceError | null;
  readonly settledAt: number;
}

/** Where the sandbox keeps its books, as changes; one process owns a store at a time. */
export interface SandboxStore {
  /** Takes the store for this process, creates what is missing and reads every change in its order. Read it to its end. */
  open(): AsyncIterable<Change>;
  /** All of the changes or none; they are durable when the promise resolves. */
  write(changes: readonly Change[]): Promise<void>;
  /** The body of a stored invoice, exactly as it came. */
  invoiceBody(id: string): Promise<string>;
  close(): Promise<void>;
}

/** Books in this process's memory: gone with the process, but not with a sandbox that is closed and started again on them. */
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

/** @throws Error always */
export function bodyMissing(id: string): never {
  throw new Error(`Reading the body of ${id}: it must have been written, and it was not.`);
}
