import type { Outcome } from '../../invoice-state.ts';
import type { Finding, Invoice, Reason } from '../../invoice.ts';
import type { RowStore } from '../row-store.ts';
import type { TotalsOverruling } from '../../control-totals.ts';
import type {
  BatchClaim,
  BatchInvoice,
  BatchRecord,
  BatchWriter,
  Contradicted,
  FencingToken,
  OutcomeCount,
} from './batch-record.ts';

/**
 * One attempt of a run to claim the batch of a file. `sha256` is the hex digest of the file's bytes, `now` is epoch
 * milliseconds.
 */
export interface ClaimBatch {
  readonly batchId: string;
  readonly application: string;
  readonly file: string;
  readonly sha256: string;
  readonly workflowId: string;
  readonly runId: string;
  /** As in `BatchRecord`. Left out: null. */
  readonly temporalId?: string | null;
  /**
   * Which attempt of the step asks, from 1: one that was stopped and goes on later takes nothing from a later one of
   * its run.
   */
  readonly attempt: number;
  readonly now: number;
  /** True when the run that holds the claim is known to be closed: the claim is then taken over. */
  readonly takeOver: boolean;
  /** With `takeOver`: the run that was found closed. When another one holds the claim by now, it is not taken. */
  readonly closedRun?: { readonly workflowId: string; readonly runId: string };
  /** A file that was refused is read again, from the start: it may be dropped with other options now. */
  readonly rereadRefused?: boolean;
  /**
   * It orders nothing: it has waited for the run that had the file, or goes on with a file that an earlier night had claimed. It takes that run's answer: a
   * batch that was closed meanwhile is not opened again.
   */
  readonly waited?: boolean;
  /** With `takeOver`: a batch that an operator has paused or cancelled is not taken. It waits for reconciliation, which closes it. */
  readonly leavesStopped?: boolean;
}

/** Who holds the batch after the attempt, and what the caller does next. */
export type ClaimResult =
  /** New, or begun by a run that died before it had staged everything: ingest from the start. */
  | { readonly kind: 'claimed'; readonly batch: BatchRecord }
  /** Staged before: run the pages with open invoices. */
  | { readonly kind: 'resumed'; readonly batch: BatchRecord }
  /** Another run holds it, or an operator has stopped it (`leavesStopped`). Ask Temporal whether that run is open; then attach to it, or claim with `takeOver`. */
  | { readonly kind: 'owned'; readonly batch: BatchRecord }
  /** Closed with everything final, or refused: its report stands. */
  | { readonly kind: 'closed'; readonly batch: BatchRecord };

/** One invoice of a batch at staging. */
export type StageInvoice =
  | {
      readonly kind: 'valid';
      readonly ordinal: number;
      readonly invoice: Invoice;
      readonly fingerprint: string;
      /** For generation 1. */
      readonly idempotencyKey: string;
      readonly net: string;
      readonly rows: readonly number[];
      readonly findings: readonly Finding[];
      /**
       * Its content does not replace a `rejected` one: at this service a refusal does not prove that nothing was
       * created, and no operator has accepted the risk of a duplicate.
       */
      readonly keepsRejected?: boolean;
      /** The starter of the batch has accepted the risk of a duplicate. */
      readonly riskAccepted?: true;
      /**
       * The ledger does not know all that was sent: unless the risk is accepted, its content replaces no other one, which may
       * have been issued.
       */
      readonly inSendingGap?: true;
      /** The starter of the batch has confirmed that references which look alike are two. */
      readonly lookAlikesKept?: true;
    }
  | {
      readonly kind: 'invalid';
      readonly ordinal: number;
      readonly ref: string;
      readonly merchantNif: string;
      readonly currency: string | null;
      readonly net: string | null;
      readonly rows: readonly number[];
      readonly findings: readonly Finding[];
    };

/**
 * What the file contained: numbers of rows and invoices, the findings about the file as a whole, and how it was read.
 */
export interface FinishStaging {
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly invoices: number;
  readonly pageSize: number;
  readonly fileFindings: readonly Finding[];
  readonly proof: Readonly<Record<string, unknown>>;
}

/** A part of the invoices of a batch. */
export interface InvoicesWith {
  readonly outcomes: ReadonlySet<Outcome>;
  /** Begin behind this ordinal; default 0. */
  readonly after?: number;
  /** How many of them to leave out first; default 0. */
  readonly skip?: number;
  readonly limit: number;
}

/** Claiming, staging, reading and closing of batches. */
export interface BatchLedger {
  /**
   * Atomic: exactly one (workflowId, runId) holds a batch. A later attempt of the same pair holds it still. Key:
   * application + sha256. Each claim that is won raises the fencing token; the methods that take a `BatchClaim` prove
   * theirs against it in the same transaction.
   * @throws LoteError `claim-lost` for an attempt of the holder that is not its latest
   */
  claimBatch(claim: ClaimBatch): Promise<ClaimResult>;
  findBatch(batchId: string): Promise<BatchRecord | null>;
  /** Newest first. */
  listBatches(limit: number, application?: string | null): Promise<readonly BatchRecord[]>;
  /** Those that have not ended: of each application the newest, at most `limit` of them. */
  newestOpenBatches(limit: number): Promise<readonly BatchRecord[]>;
  /**
   * Forget what an interrupted staging left behind (rows, invoices that were never sent, findings). Only in state
   * `staging`.
   */
  restartStaging(claim: BatchClaim): Promise<void>;
  /** Raw rows of a batch in `staging`. Its methods throw `claim-lost` too. */
  rowStore(claim: BatchClaim): RowStore;
  /**
   * Writes the batch's invoices, in set statements, by the ownership rule of docs/ledger.md: new identity -> `staged`,
   * owned by this batch; same fingerprint -> attached (issued before -> outcome `already-issued`; `staged`/`held` of a
   * closed owner -> taken over and `staged`); other fingerprint -> `conflict`, unless `failed`/`rejected`, or
   * `staged`/`held` of a closed owner: then corrected content takes over with the next generation. The key of a later
   * generation is computed by the `keyOf` given to the ledger when it was opened.
   */
  stageInvoices(claim: BatchClaim, invoices: readonly StageInvoice[], now: number): Promise<void>;
  /**
   * staging -> running; drops the raw rows; page of an invoice = ceil(ordinal / pageSize).
   * @throws LoteError `ledger-conflict` when invoices and rows in the ledger are not those that were read
   */
  finishStaging(claim: BatchClaim, staged: FinishStaging): Promise<BatchRecord>;
  /** staging -> refused. */
  refuseBatch(
    claim: BatchClaim,
    refusal: {
      readonly rows: number;
      readonly fileFindings: readonly Finding[];
      readonly proof: Readonly<Record<string, unknown>>;
      readonly now: number;
    },
  ): Promise<BatchRecord>;
  setBatchState(
    batchId: string,
    state: 'running' | 'paused' | 'cancelled' | 'finished',
    now: number,
    fencingToken?: FencingToken,
  ): Promise<void>;
  /** Ends a batch; what it owns and has not sent is held with the reason `unsent`, in one step with the end. */
  endBatch(
    batchId: string,
    end: {
      readonly state: 'cancelled' | 'finished';
      readonly unsent: Reason;
      readonly now: number;
      readonly fencingToken: FencingToken;
    },
  ): Promise<void>;
  /**
   * `held` invoices of this batch that may go again -> `staged`; `unknown` and `unsettled` stay for reconciliation.
   * Returns how many.
   */
  releaseHeld(batchId: string, now: number, fencingToken?: FencingToken): Promise<number>;
  /**
   * unknown -> sending, for the pages of this batch: same key and bytes, frozen after this moment. Returns how many.
   */
  repeatUnknown(batchId: string, frozenAfter: number, fencingToken?: FencingToken): Promise<number>;
  /** Pages with a `staged`/`sending` invoice whose owner is not closed, or any `accepted` one; ascending. */
  openPages(batchId: string): Promise<readonly number[]>;
  countOutcomes(batchId: string): Promise<readonly OutcomeCount[]>;
  fileFindings(batchId: string): Promise<readonly Finding[]>;
  /** Of these batches, the findings that decide whether the whole file went out: totals rows, and control totals that differ. Without an entry: none. */
  decidingFindings(batchIds: readonly string[]): Promise<ReadonlyMap<string, readonly Finding[]>>;
  /** Of these batches, the invoices that went out and are in doubt. Without an entry: none. */
  contradictedInvoices(batchIds: readonly string[]): Promise<ReadonlyMap<string, Contradicted>>;
  /**
   * Number of its invoices of which a document was known before `at` (epoch milliseconds), or whose document belongs to another batch: what is no
   * document that this batch has issued since.
   */
  issuedBefore(batchId: string, at: number): Promise<number>;
  /**
   * Writes down, before the other findings, that the control totals of a start differ; in place of what an earlier start differed in, unless the
   * file was let go meanwhile.
   * @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict`
   */
  noteTotals(batch: BatchWriter, finding: Finding): Promise<void>;
  /**
   * Nothing of the batch is held for its control totals any more: the finding that they differ becomes one that says so. Nothing where none differ.
   * @throws LoteError `batch-not-found`, `claim-lost`, `ledger-conflict`
   */
  overruleTotals(batch: BatchWriter, by: TotalsOverruling): Promise<void>;
  /** In ordinal order, in portions. */
  batchInvoices(batchId: string): AsyncIterable<readonly BatchInvoice[]>;
  /** In ordinal order, those of some outcomes: a part of a list that is chosen in the database. */
  invoicesWith(batchId: string, which: InvoicesWith): Promise<readonly BatchInvoice[]>;
  /** Revision rises by one; returns it. */
  nextRevision(batchId: string): Promise<number>;
}
