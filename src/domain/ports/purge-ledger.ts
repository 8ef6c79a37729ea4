/** What a purge removes, or would remove. */
export interface Purged {
  /** Batches whose words go, and the hashes of their files. */
  readonly batches: readonly { readonly batchId: string; readonly sha256: string }[];
  /** Contents and bodies of invoices, findings of rows and files, raw bytes of deliveries. */
  readonly contents: number;
  readonly bodies: number;
  readonly findings: number;
  readonly deliveries: number;
}

/**
 * Forgets what was written in files and deliveries and keeps what makes exactly-once hold: identities, keys, fingerprints, generations, states,
 * service ids, hashes of files and deliveries.
 */
export interface PurgeLedger {
  /**
   * Of every closed batch that ended before `before` and in which nothing may still move. An invoice that did not go out keeps its content: it
   * may be retried; one that another, younger batch holds keeps everything.
   */
  purge(request: { readonly before: number; readonly dryRun: boolean; readonly now: number }): Promise<Purged>;
  /** null: its words are there. */
  purgedAt(batchId: string): Promise<number | null>;
}
