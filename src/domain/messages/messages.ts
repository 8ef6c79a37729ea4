import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AnswerCounts } from '../answer-counts.ts';
import type { Outcome } from '../invoice-state.ts';
import type { RetryState } from '../retry-decision.ts';
import type { ClaimingRun, ProblemGroup, StartOrder } from '../records/batch-record.ts';

/** What an operator types to start a batch; every other field has a default. */
export interface BatchInput {
  /** Name of a file in the input directory, e.g. `sample.csv`. */
  readonly file: string;
  /** Set by the command line: the ledger the starter means; a worker of another ledger refuses. */
  readonly ledgerId?: string;
  /** `skip` (default): valid invoices go, invalid rows come back. `hold`: nothing goes while a row is invalid. */
  readonly onInvalid?: 'hold' | 'skip';
  readonly decimal?: ',' | '.';
  readonly encoding?: string;
  readonly delimiter?: string;
  /** Name of the sheet of a workbook; without it the only visible one with a known header is read. */
  readonly sheet?: string;
  readonly duplicateRows?: 'refuse' | 'keep';
  /** `refuse` (default): references that look alike and are not the same stop their invoices. `keep`: they are confirmed to be two. */
  readonly lookAlikes?: 'refuse' | 'keep';
  /** Name of a mapping profile, `input/profiles/<name>.json`; without it the file's name may choose one. */
  readonly profile?: string;
  /** Control totals: nothing is sent unless the file has exactly so many invoices … */
  readonly expectInvoices?: number;
  /** … and exactly this net by currency, e.g. `{ "EUR": "15321.40" }`. */
  readonly expectNet?: Readonly<Record<string, string>>;
  /** On record: other content may take the place of a `rejected` invoice although the refusal does not prove that nothing was created. */
  readonly acceptDuplicateRisk?: boolean;
  /**
   * Set by a nightly run for a file that an earlier night had claimed: no person has ordered it again. What is left of a batch whose run has ended stays
   * as it is then.
   */
  readonly resumed?: boolean;
}

/** What a run goes on from: another run that holds its file, or runs that were ended so that it starts again. */
export interface EarlierRun {
  /** Of the file; null: not known yet. */
  readonly sha256: string | null;
  /** The run that holds the file; left out: none that is known. */
  readonly workflowId?: string;
  /** Left out: as the run is started. */
  readonly order?: StartOrder | undefined;
  /** Ids of the runs in whose place this one goes on, oldest first. */
  readonly replaces?: readonly string[];
  /** What operators asked of these runs. */
  readonly asked?: readonly AskedOfRun[];
}

/** An update that a run has accepted, or a signal that did the same. `at`: epoch milliseconds. */
export interface AskedOfRun {
  readonly name: string;
  readonly input: unknown;
  readonly at: number;
}

/** Which invoices an operator wants sent again, and why: by rows of the file, never by reference, because history keeps the input. */
export interface RetryRequestInput {
  readonly states?: readonly RetryState[];
  /** The file's own row numbers; the only way to `unknown` invoices. */
  readonly rows?: readonly number[];
  readonly reason: string;
  /** Set by the command line: who asked. */
  readonly who?: string;
  /** On record: a second document of these invoices is possible, and is accepted. */
  readonly acceptDuplicateRisk?: boolean;
}

/** `{"batch": "…"}` is enough: then everything failed, rejected or held goes again. */
export interface RetryInput extends Omit<RetryRequestInput, 'reason'> {
  readonly batch: string;
  readonly reason?: string;
  readonly ledgerId?: string;
}

/** Input of the workflow `reconciliation`. `{}` or nothing takes only what is due. */
export interface ReconciliationInput {
  readonly ledgerId?: string;
  /** Everything that was left open, not only what is due. */
  readonly all?: boolean;
}

/**
 * What one reconciliation did: numbers of POSTs repeated (`repeated`), of documents that those repeats found (`found`),
 * of documents polled (`asked`), and of polled ones that now have a final word (`settled`).
 */
export interface ReconciliationResult {
  readonly repeated: number;
  readonly found: number;
  /** The service did not answer, or was not asked: the rest waits for the next time. */
  readonly serviceAway: boolean;
  /** The rest was not asked for, because the service profile was found wrong. Left out: it was not, as far as is known. */
  readonly profileFoundWrong?: true;
  readonly asked: number;
  readonly settled: number;
  /** Batches that no run worked on any more: they are closed. */
  readonly orphans: readonly string[];
  /** Batches of which nothing was repeated, because they are stopped until a person continues them. */
  readonly stopped: readonly string[];
  /** Batches whose report was written, or written again. */
  readonly reports: readonly string[];
  /** Reports that could not be written; they are tried again the next time. */
  readonly unwritten: readonly string[];
}

/** Numbers of invoices by outcome, and of rows. `contradicted`: of those that went out, the ones in doubt. A missing entry is 0. */
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
  /** Pages that could not be run to their end; their invoices are in the report with what the ledger knows. */
  readonly pagesFailed: number;
  /** In a sentence, how the file differs from control totals that were declared for it; left out: it does not, or was let go. */
  readonly totalsDiffer?: string;
  /** Of the report; it rises each time the report is written again. */
  readonly revision?: number;
  /** What changed since the report before. */
  readonly changes?: readonly { readonly from: Outcome; readonly to: Outcome; readonly invoices: number }[];
  /** What a retry let go again, and why it left others. */
  readonly retried?: { readonly moved: number; readonly refused: Readonly<Record<string, number>> };
  /** The workflow that ran this batch, when this run only attached to it. */
  readonly attachedTo?: string;
}

/** Counts, amounts and problems of a batch at one moment. It is small, because history keeps it, and has no personal data. */
export interface BatchSnapshot {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly counts: Readonly<Partial<Record<Outcome, number>>>;
  /** Exact decimals: of all invoices of the file, and of those that went out. */
  readonly net: readonly { readonly currency: string; readonly all: string; readonly out: string }[];
  /** Settled invoices that are not confirmed as issued. */
  readonly problems: number;
  readonly problemGroups: readonly ProblemGroup[];
  /** Sentences about a service profile that does not fit; left out: nothing of that is known. */
  readonly misfits?: readonly string[];
}

/** Answer of the query `problems`: by row number of the file, never by reference. */
export interface BatchProblems {
  readonly batchId: string | null;
  /** When the ledger was read; null: not yet. */
  readonly asOf: string | null;
  readonly invoices: number;
  /** The largest groups, each with its first rows; all of them stand in the report. */
  readonly groups: readonly ProblemGroup[];
}

/** Addresses that a batch shows to operators, and whether Temporal can list batches by their state. */
export interface OperatorLinks {
  readonly searchable: boolean;
  /** Address of the console; null: not known here. */
  readonly console: string | null;
  readonly reportsDir: string;
  /** `LOTE_LANGUAGE`: of what the Temporal UI shows. Left out: English. */
  readonly language?: string;
}

/** Answer of the query `progress`: what the run does now, and the counts of its last snapshot of the ledger. */
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
  /** What an operator must confirm before anything is sent; left out: nothing. */
  readonly unusual?: UnusualTotal;
  /** When the ledger was read for what follows; null: not yet. */
  readonly asOf: string | null;
  readonly counts: BatchSnapshot['counts'];
  readonly net: BatchSnapshot['net'];
}

/** The total of a file that is unlike those before it: the batch waits until an operator has confirmed it. */
export interface UnusualTotal {
  /** Of the whole file, as it must be confirmed. */
  readonly invoices: number;
  /** How it differs, in a sentence: numbers, amounts and the pattern of the file's name. */
  readonly difference: string;
}

/** Set by a program: who asks. */
export interface ActorInput {
  readonly who?: string;
}

/** What an operator types for a pause or a cancellation. */
export interface ReasonInput extends ActorInput {
  readonly reason: string;
}

/** What an operator asked of one run, as it passes it on to another. */
export interface OperatedInput {
  readonly what: 'pause' | 'resume' | 'cancel-remaining';
  readonly why: string;
  readonly who: string | null;
}

/** What an operator types to confirm the total of a held batch: the number of its invoices, and why it is right. */
export interface ConfirmTotalInput extends ReasonInput {
  readonly invoices: number;
}

/** What a page must know of its batch: what operators said, and whether the batch still waits for the service. */
export interface PageControl {
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** A page has waited for the service for as long as the settings allow: no page waits any more. */
  readonly outageOver: boolean;
  /** How often an operator has asked that pending invoices are polled now. */
  readonly settleNow: number;
}

/** Why a page stopped sending: everything has an answer, or is held, by an operator, an outage, or the send time. */
export type PageEnding = 'sent' | 'cancelled' | 'outage' | 'send-time';

/** How fast and how patient; read from the worker's configuration once per batch, so that it is the same on replay. */
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
  /** What the service had said of the batch when its round began; left out: nothing. */
  readonly before?: AnswerCounts | undefined;
  readonly page: number;
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
  readonly settings: BatchSettings;
  readonly control: PageControl;
  /** Set by the page itself when its history has become long: where its next run goes on. */
  readonly goOn?: PageSending | PageWaiting | undefined;
}

/** A page between two rounds of sending. Times are epoch milliseconds of the workflow's clock. */
export interface PageSending {
  readonly phase: 'sending';
  /** Milliseconds of the send time that are used up. */
  readonly spentMs: number;
  readonly outageSince: number | null;
  /** What the batch was last notified that this page waits for. */
  readonly told: string | null;
  readonly waitedFor: string | null;
  readonly retryMs: number;
}

/** A page that waits for final words. */
export interface PageWaiting {
  readonly phase: 'waiting';
  readonly ending: PageEnding;
  readonly waitedFor: string | null;
  /** When the waiting began. */
  readonly since: number;
  readonly attachedUntil: number;
  /** The value of `settleNow` at the last review. */
  readonly asked: number;
  readonly rereadMs: number;
}

/** Result of a page: accepted invoices that had no final word when it closed. */
export interface PageResult {
  readonly unsettled: number;
}

// The description of a query or update begins with the shape of its input: operators read it in the Temporal UI.

/** Phase, pages, counts and net amounts of the batch, and what it waits for. The run answers from its last snapshot of the ledger. */
export const progressQuery = defineQuery<BatchProgress>('progress');

/** Invoices of the batch that are not confirmed as issued, grouped by state and reason, with row numbers. It answers from the last snapshot. */
export const problemsQuery = defineQuery<BatchProblems>('problems');

/**
 * Stops sending. No new POST leaves later than one second after the answer, unless the answer says that the ledger
 * cannot be reached. Polling goes on.
 * @throws ApplicationFailure when the run is writing its report or has ended, or the reason is missing
 */
export const pauseUpdate = defineUpdate<string, [ReasonInput]>('pause');

/** Ends a pause; it is refused when the batch is not paused. */
export const resumeUpdate = defineUpdate<string, [ActorInput?]>('resume');

/** Holds every invoice that is not sent yet. It cannot be undone in this run; what was sent is still settled. */
export const cancelRemainingUpdate = defineUpdate<string, [ReasonInput]>('cancelRemaining');

/**
 * Polls the pending invoices of the batch now, without waiting for their due time. Nothing is sent again. It is refused
 * until a page has sent its last invoice.
 */
export const settleNowUpdate = defineUpdate<string, [ActorInput?]>('settleNow');

/** Lets a batch go that is held because of its total. The number of invoices must be that of the file. It is refused when the batch does not wait for it. */
export const confirmTotalUpdate = defineUpdate<string, [ConfirmTotalInput]>('confirmTotal');

/** Notes a retry; the batch takes it up in a new round when the pages that run now have ended. */
export const retryInvoicesUpdate = defineUpdate<string, [RetryRequestInput]>('retryInvoices');

/** From the signal relay: these invoices of the page are settled. A lost signal costs a delay and nothing else. */
export const settledSignal = defineSignal<[{ ordinals: number[] }]>('settled');
/** From a page to its batch: its last invoice is sent, the next page may start. */
export const pageSentSignal = defineSignal<[{ page: number }]>('pageSent');
/**
 * From a page to its batch: each of its invoices was tried, and what got no final answer is sent again. Another page may start, because repeats leave
 * nearly all of the rate unused.
 */
export const pageTriedSignal = defineSignal<[{ page: number }]>('pageTried');
/** From a page to its batch: it is paused, and its slices have ended. */
export const pageStoppedSignal = defineSignal<[{ page: number }]>('pageStopped');
/** From a page to its batch: its patience with the service is over; no page of the batch waits for it any more. */
export const outageOverSignal = defineSignal('outageOver');
/** From a run that found its file with another run, to that run: what an operator asked of it before it knew. */
export const operatedSignal = defineSignal<[OperatedInput]>('operated');
/** From a batch to its pages. */
export const controlSignal = defineSignal<[PageControl]>('control');
/** From a page or an activity to its batch: what it waits for, or null. `language`: as in `OperatorLinks`. */
export const waitingSignal = defineSignal<[{ page: number; reason: string | null; language?: string }]>('waiting');

/**
 * A slice of invoices starts no POST after this many milliseconds: its activity must end, and the ledger be written, long
 * before its time-out. The page that ends a slice counts on POSTs for so long.
 */
export const LONGEST_SLICE_MS = 60_000;
