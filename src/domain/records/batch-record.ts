import type { Finding, Reason } from '../invoice.ts';
import type { Contradiction, Outcome } from '../invoice-state.ts';

/** State of a batch in the ledger. `refused`, `cancelled` and `finished` are closed; `staging` is a file that is being read. */
export type BatchState = 'staging' | 'refused' | 'running' | 'paused' | 'cancelled' | 'finished';

/**
 * What stopped a batch. Nothing of it is sent until a person orders it: by a start of its file, a retry, or `resume`. `held`: its start
 * forbade to send it, for example because its control totals differ. `who` and `why`: null where Temporal or the operator did not say it.
 */
export interface BatchStop {
  readonly what: 'paused' | 'cancelled' | 'terminated' | 'deleted' | 'held';
  /** Epoch milliseconds; for `deleted`, when it was found. */
  readonly at: number;
  readonly who: string | null;
  readonly why: string | null;
}

/** Of the work that a run does on a batch. Left out: nothing is proved. */
export type FencingToken = number | undefined;

/** Proof that a write belongs to the attempt that started last: a later start of the work on this batch raises the token. */
export interface BatchClaim {
  readonly batchId: string;
  readonly fencingToken: number;
}

/** A run that writes to its batch; without a token nothing is proved. */
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
  /** In which database of Temporal that run works (`RunDirectory.temporalId`). Null: Temporal did not say it. */
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
  /** Null: it is not stopped. */
  readonly stopped: BatchStop | null;
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
  /** It is `issued`, and another batch owns it: sums over batches count it there. Left out: this batch owns it, or it is not `issued`. */
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

/** Invoices of a batch with one outcome and one currency. `currency` is null where the file's cell could not be read. */
export interface OutcomeCount {
  readonly outcome: Outcome;
  readonly currency: string | null;
  readonly invoices: number;
  /** Exact decimal string; null entries counted in withoutAmount. */
  readonly net: string;
  readonly withoutAmount: number;
}

/**
 * Who orders the work on a file. `person`: a start of this file by a person, which ends its stop. `drop`: a night found the file, and
 * goes on with what is not stopped. `none`: the run waited for another one, or a night takes over the file of an earlier night; it
 * opens no closed batch again. `restart`: the same, for the next run of the workflow that held the batch, which keeps what operators
 * ordered: a paused batch stays paused.
 */
export type StartOrder = 'person' | 'drop' | 'none' | 'restart';

/** Who did what, and why: one action is one line of the audit, however often the step that did it is repeated. */
export interface AuditAction {
  readonly actionId: string;
  /** Null: not known, e.g. from the Temporal UI. */
  readonly who: string | null;
  readonly why: string;
}

/** What an operator did to a batch as a whole: pause, resume, cancel, poll now. */
export interface NotedAction extends AuditAction {
  readonly at: number;
  readonly what: string;
}

/** Invoices of a batch that are not confirmed as issued, for one reason: row numbers, never references. */
export interface ProblemGroup {
  readonly state: Outcome;
  readonly code: string;
  readonly invoices: number;
  /** The file's row of each of the first invoices. */
  readonly rows: readonly number[];
}

/** A run of a workflow, as the claim of a batch names it. */
export interface ClaimingRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** The last order of an operator to a running batch. */
export interface SendingControl extends ClaimingRun {
  readonly batchId: string;
  /** Rises with each word of one run: a write that comes late never replaces a later word. */
  readonly version: number;
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** Who paused or cancelled it, when and why; left out: not known. */
  readonly order?: Omit<BatchStop, 'what'>;
}
