import type { BatchFigures } from '../figures.ts';
import type { BatchRecord } from './batch-record.ts';
import type { Outcome } from '../../invoice-state.ts';
import type { Reason } from '../../invoice.ts';

/** An `unknown` invoice that this process alone may repeat now: its key, and the bytes that went with it. */
export interface RepeatInvoice {
  readonly invoiceId: number;
  readonly generation: number;
  readonly idempotencyKey: string;
  readonly body: string;
  /** When its bytes were frozen: no POST of them left before. */
  readonly mayExistSince: number;
  /** When its last POST that the ledger knows of left. */
  readonly lastTriedAt: number;
  /** Why it is unknown; it stays the reason when the repeat proves nothing. */
  readonly reason: Reason;
}

export interface TakeUnknown {
  /** Another application's invoices go out under another key, into another account. */
  readonly application: string;
  readonly now: number;
  readonly retentionMs: number;
  /** A repeat that was begun this long ago and not recorded is one that a crash ended. */
  readonly staleMs: number;
  /**
   * True: whatever may be repeated; false: each one after half of the age that it had at its last try, one with a spent
   * key after all of it, and none of a cancelled batch that may never have been POSTed.
   */
  readonly all: boolean;
  /** The refusal of a repeat proves that nothing was created: what was refused after a lost answer need not wait. */
  readonly refusalIsProof?: boolean;
  /** Batches of which nothing is taken; left out: none. */
  readonly exceptBatches?: readonly string[];
  /** Where an earlier call ended; 0: from the start. */
  readonly afterInvoiceId: number;
  readonly limit: number;
}

/** The end of the repeats of one application's invoices; times are epoch milliseconds. */
export interface EndRepeats {
  readonly application: string;
  readonly now: number;
  readonly frozenUntil: number;
  readonly reason: Reason;
  /** Of `reason` where a clock that ran ahead froze the invoice: nobody knows when its first POST left. */
  readonly messageAhead: string;
}

/** Unsettled documents of one batch, in the order of their invoice ids. */
export interface UnsettledDocuments {
  readonly batchId: string;
  readonly afterInvoiceId: number;
  readonly limit: number;
}

/** A document without a final word, of a batch that no longer waits for it. */
export interface OpenDocument {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** A signed `failed` event waits for this GET; null: none. */
  readonly failedEvent: { readonly reason: Reason | null } | null;
}

export interface OpenDocuments {
  readonly application: string;
  readonly now: number;
  readonly all: boolean;
  readonly afterInvoiceId: number;
  readonly limit: number;
}

/** What one report said of an invoice that may still change. */
export interface ReportedOutcome {
  readonly ordinal: number;
  readonly state: Outcome;
  readonly generation: number;
}

/** Invoices that moved since the report that stands, by the same way. */
export interface ReportChange {
  readonly from: Outcome;
  readonly to: Outcome;
  readonly invoices: number;
  /** References of the first of them. */
  readonly examples: readonly string[];
}

/** A batch, and the run that held its claim last. */
export interface BatchRun {
  readonly batchId: string;
  readonly workflowId: string;
  readonly runId: string;
}

/** What changed in a batch since its last report was written. */
export interface SinceReport {
  /** 0: there was no report. */
  readonly revision: number;
  readonly changes: readonly ReportChange[];
  /** Contradictions flagged so far; handed back to `noteReported`. */
  readonly flags: number;
  /** By what the ledger knows that reasons have changed since that report; null: there was none. Handed back to `noteReported`. */
  readonly mark: number | null;
  /** Some of them since that report; or other invoices are in doubt than it says, as when a second document has failed. */
  readonly isFlagged: boolean;
  /** Invoices that were in doubt when that report was written (`Contradicted`). */
  readonly contradicted: number;
}

/**
 * What reconciliation reads and moves, for one application at a time. It handles only what the last report of a closed
 * batch left open, so that its cost does not grow with the ledger.
 */
export interface ReconcilingLedger {
  /** Closed batches that own an `unknown` invoice which may be repeated without an operator. */
  batchesLeftUnknown(application: string): Promise<readonly string[]>;
  /**
   * unknown -> sending, whichever batch owns it, by compare-and-set: of two reconcilers one gets it. Invoices whose
   * window is over are left out, or go back to `unknown`. In ascending order of their ids.
   */
  takeUnknown(take: TakeUnknown): Promise<readonly RepeatInvoice[]>;
  /**
   * Gives `unknown` invoices of closed batches that reconciliation may no longer repeat the reason that says so: those frozen at `frozenUntil` (epoch
   * milliseconds) or before, or at a time that has not come yet. What has a reason of which only an operator decides keeps it; of `cancelled-unanswered`, the message changes. Reports that gave
   * another reason become outdated. Returns how many invoices it changed.
   */
  endRepeats(end: EndRepeats): Promise<number>;
  /** Makes the reports outdated that left these invoices open: they give a reason that no longer holds. */
  markReasonsChanged(invoiceIds: readonly number[]): Promise<void>;
  /** `accepted` and `unsettled` documents of closed batches, by id; more than `limit` only where the last invoice has several. */
  openDocuments(open: OpenDocuments): Promise<readonly OpenDocument[]>;
  /** `unsettled` documents of a batch that runs again. */
  unsettledDocuments(unsettled: UnsettledDocuments): Promise<readonly OpenDocument[]>;
  /**
   * Applies stored `issued` events that a crash kept from being applied, and flags issued invoices of which a stored
   * event says `failed`. Returns how many invoices it moved.
   */
  applyMissedEvents(): Promise<number>;
  /**
   * Moves pending invoices of closed batches from `accepted` to `unsettled`: those accepted before `acceptedBefore`
   * (epoch milliseconds). Returns their number.
   */
  expirePending(expiry: {
    readonly application: string;
    readonly acceptedBefore: number;
    readonly now: number;
  }): Promise<number>;
  /** Batches in `staging`, `running` or `paused`, oldest first. */
  openBatches(application: string): Promise<readonly BatchRecord[]>;
  /** Closed batches whose claim is still this run's: those that it closed and nobody opened again. Their ids, oldest first. */
  batchesClosedBy(run: {
    readonly application: string;
    readonly workflowId: string;
    readonly runId: string;
  }): Promise<readonly string[]>;
}

/** What reports said of invoices that may still change, and which reports are to be written. */
export interface ReportMarkLedger {
  /** Closed batches of which the report that stands says something that is no longer so. */
  outdatedReports(application: string): Promise<readonly string[]>;
  /** Closed batches of which no report was written since they ended, purged or not, each with the run that closed it. */
  unreportedBatches(application: string): Promise<readonly BatchRun[]>;
  sinceReport(batchId: string): Promise<SinceReport>;
  /**
   * Remembers what a report said of invoices that may still change. False, and nothing is written, when a newer report
   * was noted before. A report stays outdated if reasons have changed since `sinceReport`.
   */
  noteReported(
    batchId: string,
    report: {
      readonly revision: number;
      readonly writtenAt: number;
      readonly flags: number;
      /** Left out: null. */
      readonly mark?: number | null;
      readonly open: readonly ReportedOutcome[];
      /** Left out: pictures leave the batch out. */
      readonly figures?: BatchFigures;
    },
  ): Promise<boolean>;
}
