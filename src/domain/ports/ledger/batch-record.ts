import type { Finding, Reason } from '../../invoice.ts';
import type { Contradiction, Outcome } from '../../invoice-state.ts';

/**
 * State of a batch in the ledger. `refused`, `cancelled` and `finished` are closed; `staging` is a file that is being
 * read.
 */
export type BatchState = 'staging' | 'refused' | 'running' | 'paused' | 'cancelled' | 'finished';

/** Of the work that a run does on a batch. Left out by a run that an earlier version of Lote started: nothing is proved then. */
export type FencingToken = number | undefined;

/** Proof that a write belongs to the attempt that started last: a later start of the work on this batch raises the token. */
export interface BatchClaim {
  readonly batchId: string;
  readonly fencingToken: number;
}

/** A run that writes to its batch; no token to prove: an earlier version of Lote started the run. */
export interface BatchWriter {
  readonly batchId: string;
  readonly fencingToken: FencingToken;
}

/** One batch as the ledger stores it. Times are epoch milliseconds; `finishedAt` is null while the batch is open. */
export interface BatchRecord extends BatchClaim {
  readonly application: string;
  /** Base name under which the file first came. */
  readonly file: string;
  readonly sha256: string;
  readonly state: BatchState;
  readonly workflowId: string;
  readonly runId: string;
  /** In which database of Temporal that run works (`RunDirectory.temporalId`). Null: an earlier version of Lote made the batch, or Temporal did not say it. */
  readonly temporalId: string | null;
  readonly pageSize: number;
  readonly pages: number;
  /** CSV records or JSON line objects, blank ones not. */
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly invoices: number;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** 0 until the first report is written, then its revision. */
  readonly revision: number;
  /** Free-form proof of ingest (dialect, encoding, number marks, profile hash): shown. A file that is started again is compared with it. */
  readonly proof: Readonly<Record<string, unknown>>;
}

/** One line of the report, as the ledger knows it. */
export interface BatchInvoice {
  readonly ordinal: number;
  readonly page: number;
  readonly ref: string;
  readonly merchantNif: string;
  readonly rows: readonly number[];
  readonly currency: string | null;
  readonly net: string | null;
  readonly state: Outcome;
  readonly serviceId: string | null;
  readonly idempotencyKey: string | null;
  readonly generation: number;
  /** POSTs over all generations. */
  readonly attempts: number;
  readonly reason: Reason | null;
  readonly findings: readonly Finding[];
  /** Contradictions seen, e.g. `issued-after-failed`. */
  readonly flags: readonly string[];
  /** Those for which an invoice that went out is in doubt at this moment; left out: none. */
  readonly contradictions?: readonly Contradiction[];
  readonly sentAt: number | null;
  readonly settledAt: number | null;
  /**
   * It is `issued`, and another batch owns it: sums over batches count it there. Left out: this batch owns it, or it is not `issued`.
   */
  readonly issuedElsewhere?: true;
}

/** Invoices of a batch that went out and are in doubt (`contradictions`). */
export interface Contradicted {
  readonly invoices: number;
  /** References of the first of them, at most `MOST_CONTRADICTED`. */
  readonly refs: readonly string[];
}

/** References of invoices in doubt that are named: all of them in nearly every case. */
export const MOST_CONTRADICTED = 20;

/** One POST of an invoice that brought no final word: why not. Times are epoch milliseconds. */
export interface InvoiceTry {
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly reason: Reason;
}

/**
 * Invoices of a batch with one outcome and one currency. `currency` is null where the file's cell could not be read.
 */
export interface OutcomeCount {
  readonly outcome: Outcome;
  readonly currency: string | null;
  readonly invoices: number;
  /** Exact decimal string; null entries counted in withoutAmount. */
  readonly net: string;
  readonly withoutAmount: number;
}
