import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AnswerCounts } from '../answer-counts.ts';
import type { Outcome } from '../invoice-state.ts';
import type { RetryState } from '../retry-decision.ts';
import type { ClaimingRun, StartOrder } from '../records/batch-record.ts';

/** The input of an operator who starts a batch; every field except `file` has a default. */
export interface BatchInput {
  /** Name of a file in the input directory, e.g. `sample.csv`. */
  readonly file: string;
  /** Set by the command line: the id of the ledger that the caller means. A worker of another ledger refuses. */
  readonly ledgerId?: string;
  /** `skip` (default): valid invoices are sent and invalid rows are returned. `hold`: nothing is sent while a row is invalid. */
  readonly onInvalid?: 'hold' | 'skip';
  readonly decimal?: ',' | '.';
  readonly encoding?: string;
  readonly delimiter?: string;
  /** Name of the sheet of a workbook. By default Lote reads the only visible sheet with a known header. */
  readonly sheet?: string;
  readonly duplicateRows?: 'refuse' | 'keep';
  /** `refuse` (default): references that look alike but differ stop their invoices. `keep`: an operator confirms them. */
  readonly lookAlikes?: 'refuse' | 'keep';
  /** Name of a mapping profile, `input/profiles/<name>.json`. By default the name of the file may choose a profile. */
  readonly profile?: string;
  /** Control totals: nothing is sent unless the file has exactly this number of invoices … */
  readonly expectInvoices?: number;
  /** … and exactly this net by currency, e.g. `{ "EUR": "15321.40" }`. */
  readonly expectNet?: Readonly<Record<string, string>>;
  /** The operator accepts, on record, that other content replaces a `rejected` invoice whose refusal is no proof. */
  readonly acceptDuplicateRisk?: boolean;
  /**
   * Set by a nightly run for a file that an earlier night had claimed. No person has ordered the file again, so the
   * remainder of a batch whose run has ended stays unsent.
   */
  readonly resumed?: boolean;
}

/** The state from which a run continues: another run that holds its file, or runs that ended so that it starts again. */
export interface EarlierRun {
  /** SHA-256 of the file; null while it is not known. */
  readonly sha256: string | null;
  /** The run that holds the file; missing if no such run is known. */
  readonly workflowId?: string;
  /** The default is the order with which the run is started. */
  readonly order?: StartOrder | undefined;
  /** Ids of the runs that this run replaces, oldest first. */
  readonly replaces?: readonly string[];
  /** The orders that operators gave to these runs. */
  readonly asked?: readonly AskedOfRun[];
}

/** An update that a run has accepted. `at` is in epoch milliseconds. */
export interface AskedOfRun {
  readonly name: string;
  readonly input: unknown;
  readonly at: number;
}

/** The invoices to send again, and why. Rows name them, never references, because history keeps the input. */
export interface RetryRequestInput {
  readonly states?: readonly RetryState[];
  /** Row numbers of the file; the only way to select `unknown` invoices. */
  readonly rows?: readonly number[];
  readonly reason: string;
  /** Set by the command line: the person who asks. */
  readonly who?: string;
  /** The operator accepts, on record, that a second document of these invoices is possible. */
  readonly acceptDuplicateRisk?: boolean;
}

/** Input of a retry. `{"batch": "…"}` is enough to send all failed, rejected and held invoices again. */
export interface RetryInput extends Omit<RetryRequestInput, 'reason'> {
  readonly batch: string;
  readonly reason?: string;
  readonly ledgerId?: string;
}

/** Input of the workflow `reconciliation`. `{}` or no input processes only what is due. */
export interface ReconciliationInput {
  readonly ledgerId?: string;
  /** True to process everything that was left open, not only what is due. */
  readonly all?: boolean;
}

/**
 * The result of one reconciliation, as numbers: POSTs repeated (`repeated`), documents that those repeats found
 * (`found`), documents polled (`asked`), and polled documents that now have a final word (`settled`).
 */
export interface ReconciliationResult {
  readonly repeated: number;
  readonly found: number;
  /** The service did not answer or was not asked; the rest waits for the next reconciliation. */
  readonly serviceAway: boolean;
  /** Set if the rest was not asked because the service profile was found to be wrong. */
  readonly profileFoundWrong?: true;
  readonly asked: number;
  readonly settled: number;
  /** Batches without a run; this reconciliation closed them. */
  readonly orphans: readonly string[];
  /** Batches without repeats, because they are stopped until a person continues them. */
  readonly stopped: readonly string[];
  /** Batches whose report was written or rewritten. */
  readonly reports: readonly string[];
  /** Batches whose report could not be written; the next reconciliation tries again. */
  readonly unwritten: readonly string[];
}

/** Numbers of invoices by outcome, and numbers of rows. `contradicted` counts issued invoices in doubt. A missing entry is 0. */
export type Counts = Readonly<
  Partial<Record<Outcome | 'rows' | 'invoices' | 'rowsWithoutInvoice' | 'rowsLost' | 'contradicted', number>>
>;

/** Paths of the files of a report. `corrections` is null when there is no corrections file. */
export interface ReportPaths {
  readonly json: string;
  readonly csv: string;
  readonly html: string;
  readonly corrections: string | null;
}

/** Result of a batch workflow, as the command line and the Temporal UI show it. */
export interface BatchResult {
  readonly batchId: string;
  readonly file: string;
  readonly state: 'refused' | 'cancelled' | 'finished';
  readonly counts: Counts;
  readonly reports: ReportPaths;
  /** Number of pages that failed; the report shows their invoices as the ledger knows them. */
  readonly pagesFailed: number;
  /** A sentence that says how the file differs from its control totals; missing if it does not or was overruled. */
  readonly totalsDiffer?: string;
  /** Revision of the report; it rises with each rewrite. */
  readonly revision?: number;
  /** Changes since the previous report. */
  readonly changes?: readonly { readonly from: Outcome; readonly to: Outcome; readonly invoices: number }[];
  /** Number of invoices that a retry moved, and numbers of invoices that it refused, by code. */
  readonly retried?: { readonly moved: number; readonly refused: Readonly<Record<string, number>> };
  /** The workflow that ran this batch, if this run only attached to it. */
  readonly attachedTo?: string;
}

/** Counts and amounts of a batch at one moment. It is small because history keeps it, and has no personal data. */
export interface BatchSnapshot {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly counts: Readonly<Partial<Record<Outcome, number>>>;
  /** Exact decimals: the net of all invoices of the file, and of those that were issued. */
  readonly net: readonly { readonly currency: string; readonly all: string; readonly out: string }[];
  /** Settled invoices that are not confirmed as issued. */
  readonly problems: number;
  /** Sentences about a service profile that does not fit; missing if none is known. */
  readonly misfits?: readonly string[];
}

/** Addresses that a batch shows to operators, and whether Temporal can list batches by their state. */
export interface OperatorLinks {
  readonly searchable: boolean;
  /** Address of the console; null if this process does not know it. */
  readonly console: string | null;
  readonly reportsDir: string;
}

/** Answer of the query `progress`: what the run is doing, and the counts of its last snapshot of the ledger. */
export interface BatchProgress {
  readonly batchId: string | null;
  readonly phase: 'reading' | 'attached' | 'confirming' | 'merchants' | 'sending' | 'waiting' | 'reporting' | 'done';
  readonly paused: boolean;
  readonly cancelled: boolean;
  readonly invoices: number;
  readonly pages: number;
  readonly pagesSent: number;
  readonly pagesDone: number;
  readonly pagesFailed: number;
  readonly waitingFor: string | null;
  /** The total that an operator must confirm before anything is sent; missing if none waits for confirmation. */
  readonly unusual?: UnusualTotal;
  /** When the ledger was read for the fields below; null if it was not read yet. */
  readonly asOf: string | null;
  readonly counts: BatchSnapshot['counts'];
  readonly net: BatchSnapshot['net'];
}

/** The total of a file that differs from earlier files; the batch waits until an operator has confirmed it. */
export interface UnusualTotal {
  /** Number of invoices of the whole file; the operator must confirm this number. */
  readonly invoices: number;
  /** A sentence that says how the total differs: numbers, amounts and the pattern of the file's name. */
  readonly difference: string;
}

/** Set by a program: the person who asks. */
export interface ActorInput {
  readonly who?: string;
}

/** Input of an operator for a pause or a cancellation. */
export interface ReasonInput extends ActorInput {
  readonly reason: string;
}

/** Input of an operator who confirms the total of a held batch: the number of its invoices, and why it is right. */
export interface ConfirmTotalInput extends ReasonInput {
  readonly invoices: number;
}

/** What a page must know about its batch: the orders of operators, and whether the batch still waits for the service. */
export interface PageControl {
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** A page has waited for the service as long as the settings allow, so no page waits any more. */
  readonly outageOver: boolean;
  /** How often an operator has asked to poll pending invoices now. */
  readonly settleNow: number;
}

/** Why a page stopped sending: every invoice has an answer, or an operator, an outage or the end of the send time stopped it. */
export type PageEnding = 'sent' | 'cancelled' | 'outage' | 'send-time';

/** Limits of speed and waiting, read once per batch from the worker's configuration, so that a replay has the same. */
export interface BatchSettings {
  readonly sliceSize: number;
  readonly settleMs: number;
  readonly sendMs: number;
  readonly patienceMs: number;
}

/** Input of the child workflow of one page. Ordinals are inclusive and count from 1. */
export interface PageInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly fencingToken: number;
  /** The run that holds the batch's claim. */
  readonly run: ClaimingRun;
  /** The answers of the service about the batch when its round began; the default is none. */
  readonly before?: AnswerCounts | undefined;
  readonly page: number;
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
  readonly settings: BatchSettings;
  readonly control: PageControl;
  /** Set by the page itself when its history is too long: what its earlier runs have used up. */
  readonly spent?: PageSpent | undefined;
}

/** The part of its time that a page has used up. The ledger has the rest of its state. */
export interface PageSpent {
  /** Used part of the send time, in milliseconds. */
  readonly sendMs: number;
  /** Since when the service is away, in epoch milliseconds; null if it is not. */
  readonly outageSince: number | null;
  /** The trouble of the service that the page last waited for, or null. */
  readonly waitedFor: string | null;
  /** Since when the page waits for final words, in epoch milliseconds; missing while it sends. */
  readonly waitingSince?: number | undefined;
}

/** Result of a page: accepted invoices that had no final word when it closed. */
export interface PageResult {
  readonly unsettled: number;
}

// The description of a query or update begins with the shape of its input: operators read it in the Temporal UI.

/** Returns phase, pages, counts and net amounts of the batch, and what it waits for, from the run's last snapshot of the ledger. */
export const progressQuery = defineQuery<BatchProgress>('progress');

/**
 * Stops sending. No new POST leaves later than one second after the answer, unless the answer says that the ledger
 * cannot be reached. Polling goes on.
 * @throws ApplicationFailure when the run is writing its report or has ended, or the reason is missing
 */
export const pauseUpdate = defineUpdate<string, [ReasonInput]>('pause');

/** Ends a pause. The run refuses it if the batch is not paused. */
export const resumeUpdate = defineUpdate<string, [ActorInput?]>('resume');

/** Holds every unsent invoice. This run cannot undo it; it still settles the sent invoices. */
export const cancelRemainingUpdate = defineUpdate<string, [ReasonInput]>('cancelRemaining');

/**
 * Polls the pending invoices of the batch now, without waiting for their due time. Nothing is sent again. The run
 * refuses it until a page has sent its last invoice.
 */
export const settleNowUpdate = defineUpdate<string, [ActorInput?]>('settleNow');

/** Releases a batch that is held because of its total, if `invoices` is the number of the file. Refused if the batch does not wait for it. */
export const confirmTotalUpdate = defineUpdate<string, [ConfirmTotalInput]>('confirmTotal');

/** Records a retry. The batch performs it in a new round after the pages that run now have ended. */
export const retryInvoicesUpdate = defineUpdate<string, [RetryRequestInput]>('retryInvoices');

/** The signal relay tells a page that these invoices are settled. A lost signal only causes a delay. */
export const settledSignal = defineSignal<[{ ordinals: number[] }]>('settled');
/**
 * A page tells its batch that it has sent each invoice at least once, and again when it sends nothing more. From the
 * first time on the next page may start, because repeats leave nearly all of the rate unused.
 */
export const pageSentSignal = defineSignal<[{ page: number }]>('pageSent');
/** A page tells its batch that it is paused and its slices have ended. */
export const pageStoppedSignal = defineSignal<[{ page: number }]>('pageStopped');
/** A page tells its batch that it has waited for the service long enough; no page of the batch waits any more. */
export const outageOverSignal = defineSignal('outageOver');
/** A batch tells its pages the orders of operators and the state of the service. */
export const controlSignal = defineSignal<[PageControl]>('control');
/** A page or an activity tells its batch what it waits for, or null. */
export const waitingSignal = defineSignal<[{ page: number; reason: string | null }]>('waiting');

/**
 * A slice starts no POST after this many milliseconds, because its activity must end, and the ledger be written, long
 * before its time-out. A page that ends a slice expects POSTs for this long.
 */
export const LONGEST_SLICE_MS = 60_000;
