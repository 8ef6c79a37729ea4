import type { BatchState } from './batch-record.ts';

/** A slip of the unit (400m for 400d) must not empty the ledger. */
export const SHORTEST_PURGE_AGE_MS = 24 * 60 * 60 * 1000;

/** What a purge removes, or would remove. */
export interface Purged {
  /** Batches whose words go, and the hashes of their files. */
  readonly batches: readonly { readonly batchId: string; readonly sha256: string }[];
  /** Contents and bodies of invoices, findings of rows and files, raw bytes of deliveries. */
  readonly contents: number;
  readonly bodies: number;
  readonly findings: number;
  readonly deliveries: number;
  /** Other applications of the ledger that have batches of that age, all of which stay. */
  readonly others: readonly string[];
  /** Batches of that age that stay with all that they hold, because they have not ended or invoices of them may still go. */
  readonly staying: readonly StayingBatch[];
}

/** A batch that no purge may touch yet. */
export interface StayingBatch {
  readonly batchId: string;
  readonly state: BatchState;
  /** Those that are not at their end. */
  readonly invoices: number;
}

/**
 * Forgets what was written in files and deliveries and keeps what makes exactly-once hold: identities, keys, fingerprints, generations, states,
 * service ids, hashes of files and deliveries.
 */
export interface PurgeLedger {
  /**
   * Of every closed batch that ended before `before` and in which nothing may still move. An invoice that is not confirmed as issued keeps its content: it
   * may be retried; one that another, younger batch holds keeps everything. With them go raw bytes that came before `before`: of invoices
   * whose batches were purged already, and of no invoice, unless one waits that was frozen before they came. One transaction, which locks what it decided about: a batch that is
   * claimed meanwhile is not purged, and a process that stands still until its session is taken from it has purged nothing.
   */
  purge(request: {
    readonly before: number;
    readonly dryRun: boolean;
    readonly now: number;
    /** Null: the batches of all. */
    readonly application: string | null;
  }): Promise<Purged>;
  /**
   * Of these hashes of files those that no batch of the application needs any more: each such batch is purged. Null: of
   * all applications.
   */
  purgedFiles(hashes: readonly string[], application: string | null): Promise<readonly string[]>;
  /** null: its words are there. */
  purgedAt(batchId: string): Promise<number | null>;
}
