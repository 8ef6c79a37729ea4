import { closeSync, openSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';

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

/** An invoice of an application. It is `processing` until the engine's final verdict. */
export interface InvoiceRecord extends Created {
  readonly merchantId: string;
  readonly status: 'processing' | 'issued' | 'failed';
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
type StoredErrorRecord = Pick<Created, 'applicationId' | 'bodySha256' | 'createdAt'> & {
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

/** A change to the books: a new record, or the newer state of a record with this id. `delivery-done` ends a delivery. */
export type Change =
  | { readonly kind: 'merchant'; readonly record: MerchantRecord }
  | { readonly kind: 'invoice'; readonly record: InvoiceRecord }
  | { readonly kind: 'webhook'; readonly record: WebhookRecord }
  | { readonly kind: 'stored-error'; readonly record: StoredErrorRecord }
  | { readonly kind: 'delivery' | 'delivery-done'; readonly record: DeliveryRecord };

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

const OWNER_ONLY = 0o600;

/**
 * Stores the books in their own directory. The journal has one line of JSON per group of changes. Each line begins with
 * its newline, so that a group that a killed process or a full disk cut off stands alone, and is ignored. The store
 * does not call fsync: a simulated service need not survive a power cut.
 */
export function fileStore({ directory }: { readonly directory: string }): SandboxStore {
  let journal: FileHandle | null = null;
  let lock: number | null = null;
  /** Settles after the last write; writes follow each other. */
  let written: Promise<unknown> = Promise.resolve();
  return {
    async *open() {
      await mkdir(directory, { recursive: true });
      lock = lockDirectory(directory);
      journal = await open(join(directory, 'books.jsonl'), 'a+', OWNER_ONLY);
      const whole = await journal.readFile();
      for (let at = 0; at < whole.length;) {
        const next = whole.indexOf('\n', at);
        const end = next === -1 ? whole.length : next;
        yield* parsed(whole.toString('utf8', at, end));
        at = end + 1;
      }
    },
    write(changes) {
      const write = written.then(async () => {
        if (journal === null) throw new Error("Using the sandbox's store: it must be open, and it is not.");
        await journal.appendFile(`\n${JSON.stringify(changes)}`);
      });
      written = write.catch(() => undefined);
      return write;
    },
    async close() {
      await written;
      await journal?.close();
      journal = null;
      if (lock !== null) closeSync(lock);
      lock = null;
    },
  };
}

function parsed(line: string): readonly Change[] {
  try {
    return JSON.parse(line) as readonly Change[];
  } catch {
    return [];
  }
}

/**
 * Locks a directory for this process, because each of two sandboxes on one journal would lack the other's invoices. The
 * kernel releases the lock when the process ends. @returns the descriptor that holds the lock
 */
function lockDirectory(directory: string): number {
  // Uses a bare descriptor, because a garbage-collected FileHandle is closed and loses its lock. Nothing may remove the
  // file: a lock on a removed file excludes no other process.
  const descriptor = openSync(join(directory, 'sandbox.lock'), 'a+', OWNER_ONLY);
  if (tryLock(descriptor)) return descriptor;
  closeSync(descriptor);
  throw new Error(
    `Opening the sandbox's store at ${directory}: one process may use it at a time, and another one does. Stop that one, or use another directory.`,
  );
}
