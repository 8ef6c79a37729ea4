import type { InvoiceState, Outcome } from '../../invoice-state.ts';
import type { BatchRecord, FencingToken } from './batch-record.ts';
import type { RetryMove, RetryPolicy, RetryRefusal, RetryState } from '../../retry-decision.ts';

/** Which invoices of a batch an operator means; all that is given must hold. References never come this way: history keeps them. */
export interface RetrySelection {
  /** Default: every state that may be retried; `unknown` only when rows are given. */
  readonly states?: readonly RetryState[];
  /** The file's own row numbers; an invoice is meant when one of its rows is. */
  readonly rows?: readonly number[];
  /** Only invoices whose reason has one of these codes: the retry policy's own selection. */
  readonly reasonCodes?: readonly string[];
}

/** Who did what, and why: one action is one line of the audit, however often the step that did it is repeated. */
export interface AuditAction {
  readonly actionId: string;
  /** Null: not known, e.g. from the Temporal UI. */
  readonly who: string | null;
  readonly why: string;
}

/** An operator's or the retry policy's order to send invoices of a batch again. */
export interface RetryRequest {
  readonly batchId: string;
  readonly selection: RetrySelection;
  readonly policy: RetryPolicy;
  readonly action: AuditAction;
  readonly fencingToken?: FencingToken;
}

/** Numbers of invoices by move and by refusal. */
export interface RetryResult {
  readonly moved: Readonly<Record<RetryMove, number>>;
  readonly refused: Readonly<Partial<Record<RetryRefusal, number>>>;
  /** Pages on which an invoice moved; ascending. */
  readonly pages: readonly number[];
}

/** Claims a closed batch for a run that retries invoices of it. */
export interface ReopenBatch {
  readonly batchId: string;
  readonly workflowId: string;
  readonly runId: string;
  /** As in `BatchRecord`. Left out: null. */
  readonly temporalId?: string | null;
  /** Which attempt of the step asks, from 1. */
  readonly attempt: number;
  /** The run that holds the claim is known to be closed. */
  readonly takeOver: boolean;
}

/** A round of a batch's pages is about to begin. */
export interface BeginRound {
  readonly batchId: string;
  /** Which attempt of the step asks, from 1. */
  readonly attempt: number;
  /** Of the round before. */
  readonly fencingToken: number;
  /** An operator has asked for this round: it has its whole retry budget. Left out: it goes on with that of the round before. */
  readonly isOrdered?: boolean;
}

/** Whether the run holds the batch now, and if not, why. */
export type ReopenResult =
  | { readonly kind: 'reopened'; readonly batch: BatchRecord }
  /** A run holds it: a retry goes to that run as an update. */
  | { readonly kind: 'owned'; readonly workflowId: string; readonly runId: string }
  /** The file was refused, or is still being read: it has no invoices to retry. */
  | { readonly kind: 'nothing' };

/** What happened to one invoice in an action. */
export interface AuditedInvoice {
  readonly ref: string;
  readonly rows: readonly number[];
  readonly move: RetryMove;
  readonly from: InvoiceState;
  readonly generation: number;
}

/**
 * One action of the audit. `at` is epoch milliseconds; `who` is null when it is not known; `invoices` is how many it
 * moved.
 */
export interface AuditEntry {
  readonly at: number;
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly acceptedDuplicateRisk: boolean;
  readonly invoices: number;
  /** The first of them, in the file's order. */
  readonly examples: readonly AuditedInvoice[];
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

/** What an operator, or the retry policy, may do after or beside a batch. */
export interface OperatingLedger {
  /** A finished or cancelled batch runs again under this run, whether or not anything of it is open. @throws LoteError `batch-not-found`, `claim-lost` */
  reopenBatch(reopen: ReopenBatch): Promise<ReopenResult>;
  /**
   * Raises the fencing token, so that nothing of the round before writes any more. A later attempt of the step raises it again.
   * @throws LoteError `claim-lost` for an attempt that is not the latest, or when another run has claimed the batch
   */
  beginRound(round: BeginRound): Promise<BatchRecord>;
  /**
   * Lets the selected invoices of a batch go again, each by `decideRetry`: release, regenerate (next generation, new key), repeat (same key and
   * bytes), abandon. Each move holds state and generation against the row, and is written down together with its audit line.
   */
  retryInvoices(request: RetryRequest): Promise<RetryResult>;
  /** The file's rows of these references in the batch; a reference that the batch does not have is left out. */
  rowsOfRefs(
    batchId: string,
    refs: readonly string[],
  ): Promise<readonly { readonly ref: string; readonly rows: readonly number[] }[]>;
  /** Into the audit, each action once, however often this is repeated. */
  noteActions(batchId: string, actions: readonly NotedAction[]): Promise<void>;
  /**
   * Settled invoices that are not confirmed as issued, by reason: the largest groups first, at most `groups` of them with at most
   * `rows` rows each.
   */
  problemGroups(
    batchId: string,
    limit: { readonly groups: number; readonly rows: number },
  ): Promise<readonly ProblemGroup[]>;
  /** Oldest first. */
  auditOf(batchId: string): Promise<readonly AuditEntry[]>;
}
