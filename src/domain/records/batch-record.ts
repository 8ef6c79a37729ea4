import type { Finding, Reason } from '../invoice.ts';
import type { Contradiction, Outcome } from '../invoice-state.ts';

/** State of a batch in the ledger. In `staging`, Lote reads the file; `refused`, `cancelled` and `finished` are closed. */
export type BatchState = 'staging' | 'refused' | 'running' | 'paused' | 'cancelled' | 'finished';

/**
 * Why a batch is stopped until a person orders it by a start of its file, a retry or `resume`. `held`: its start
 * forbade sending, for example because its control totals differ. `who` and `why` are null if unknown.
 */
export interface BatchStop {
  readonly what: 'paused' | 'cancelled' | 'terminated' | 'held';
  /** Epoch milliseconds. */
  readonly at: number;
  readonly who: string | null;
  readonly why: string | null;
}

/** Token of the work of a run on a batch; undefined proves nothing. */
export type FencingToken = number | undefined;

/** Proof that a write belongs to the latest attempt: each later start of work on this batch raises the token. */
export interface BatchClaim {
  readonly batchId: string;
  readonly fencingToken: number;
}

/** A run that writes to its batch. Without a token, nothing is proved. */
export interface BatchWriter {
  readonly batchId: string;
  readonly fencingToken?: FencingToken;
}

/** One batch as the ledger stores it. Times are epoch milliseconds; `finishedAt` is null while the batch is open. */
export interface BatchRecord extends BatchClaim {
  readonly application: string;
  /** Base name of the file when it first came. */
  readonly file: string;
  readonly sha256: string;
  readonly state: BatchState;
  readonly workflowId: string;
  readonly runId: string;
  readonly pageSize: number;
  readonly pages: number;
  /** Number of CSV records or JSON line objects, without blank ones. */
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly invoices: number;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** 0 until the first report is written, then the revision of the report. */
  readonly revision: number;
  /** Null if the batch is not stopped. */
  readonly stopped: BatchStop | null;
  /** Free-form proof of ingest (dialect, encoding, number marks, profile hash) for display, compared when the file starts again. */
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
  /** Number of POSTs in all generations. */
  readonly attempts: number;
  readonly reason: Reason | null;
  readonly findings: readonly Finding[];
  /** Contradictions of the service, e.g. `issued-after-failed`. */
  readonly flags: readonly string[];
  /** The contradictions that put an issued invoice in doubt now. */
  readonly contradictions?: readonly Contradiction[];
  readonly sentAt: number | null;
  readonly settledAt: number | null;
  /** True if the invoice is `issued` and another batch owns it, so that sums over batches count it there. */
  readonly issuedElsewhere?: boolean;
}

/** Issued invoices of a batch that are in doubt (`contradictions`). */
export interface Contradicted {
  readonly invoices: number;
  /** References of the first invoices in doubt, at most `MOST_CONTRADICTED`. */
  readonly refs: readonly string[];
}

/** Number of references of invoices in doubt that Lote names: all of them in nearly every case. */
export const MOST_CONTRADICTED = 20;

/** Invoices of a batch with one outcome and one currency. `currency` is null where the file's cell could not be read. */
export interface OutcomeCount {
  readonly outcome: Outcome;
  readonly currency: string | null;
  readonly invoices: number;
  /** Exact decimal string, without the invoices in `withoutAmount`. */
  readonly net: string;
  readonly withoutAmount: number;
}

/**
 * Who orders the work on a file. `person`: a person starts the file, which ends its stop. `drop`: a night found the
 * file and continues unless it is stopped. `none`: the run waited for another run, or a night takes over the file of an
 * earlier night; it never re-opens a closed batch. `restart`: the same, for the next run of the workflow that held the
 * batch; the orders of operators stay, so a paused batch stays paused.
 */
export type StartOrder = 'person' | 'drop' | 'none' | 'restart';

/** One action in the audit: who did what, and why. It is one line, however often the step is repeated. */
export interface AuditAction {
  readonly actionId: string;
  /** Null if unknown, e.g. from the Temporal UI. */
  readonly who: string | null;
  readonly why: string;
}

/** An action of an operator on a whole batch: pause, resume, cancel, poll now. */
export interface NotedAction extends AuditAction {
  readonly at: number;
  readonly what: string;
}

/** A run of a workflow, as the claim of a batch names it. */
export interface ClaimingRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** The last order of an operator to a running batch. */
export interface SendingControl extends ClaimingRun {
  readonly batchId: string;
  /** Rises with each order to one run, so that a late write never replaces a later order. */
  readonly version: number;
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** Who paused or cancelled the batch, when and why; missing if unknown. */
  readonly order?: Omit<BatchStop, 'what'>;
}
