import type { Finding } from '../src/domain/invoice.ts';
import type { Outcome } from '../src/domain/invoice-state.ts';
import type { DropFolder } from '../src/domain/ports/drop-folder.ts';
import type { InvoicingService } from '../src/domain/ports/invoicing-service.ts';
import type { BatchRecord } from '../src/domain/ports/ledger/batch-record.ts';
import type { Ledger } from '../src/domain/ports/ledger/ledger.ts';
import type { SentAgain } from '../src/domain/ports/ledger/sending-ledger.ts';
import type { NightMessages } from '../src/domain/ports/night-messages.ts';
import type { RunLog } from '../src/domain/ports/run-log.ts';
import type { RowStore } from '../src/domain/ports/row-store.ts';
import type { GroupedInvoice, RawRow } from '../src/domain/row.ts';
import type { SendingPermission } from './sending/sending-permission.ts';
import type { AnswerWatch } from './profile-fit/answer-watch.ts';
import type { NotifyWaiting } from './batch/waiting-notice.ts';
import type { OperatorLinks, BatchSettings, Counts, ReportPaths } from '../src/contract/messages.ts';
import type { Speech } from '../src/texts/choose-language.ts';

/** Everything activities touch, handed in by the entry points: activities know no driver, no server, no file format. */
export interface ActivityDeps {
  readonly application: string;
  /** Other applications work beside this one, each with a worker of its own. */
  readonly isOneOfSeveral: boolean;
  /** How what is written for people is spoken (`LOTE_LANGUAGE`). */
  readonly speech: Speech;
  /** Under which findings about the service profile are noted in the ledger (`noteMisfits`). */
  readonly profileDigest: string;
  /** By which part of the service profile ids of merchants are read (`merchantsNeeded`). */
  readonly merchantsDigest: string;
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly files: FileReader;
  readonly reports: ReportWriter;
  readonly runs: RunDirectory;
  /** Whether the profile reads the answers of the service rightly: what does not fit, and what is not believed. */
  readonly watch: AnswerWatch;
  /** Notifies a batch why one of its activities is repeated; never rejects. */
  readonly notifyWaiting: NotifyWaiting;
  /** For nightly runs: the folder in which files are dropped, and the run log. */
  readonly drops: DropFolder;
  readonly nights: RunLog;
  /** The message of a night, by the ways that are configured. */
  readonly messages: NightMessages;
  /** Runs the program of `LOTE_ON_REPORT` for a report; never rejects. */
  readonly announce: (report: AnnouncedReport) => Promise<void>;
  /**
   * The account that this worker sends into is still the one that the ledger knows, and the ledger knows all that was
   * sent. @throws LoteError `interlock`
   */
  readonly requireAccount: () => Promise<unknown>;
  /** Whether this process may POST for a batch at this moment. */
  readonly permission: SendingPermission;
  /** Registers the webhook endpoint once; a failure leaves settling to GET alone. */
  readonly ensureWebhook: () => Promise<void>;
  readonly settings: BatchSettings & {
    readonly pageSize: number;
    /** Share of refusals, 0 to 1, above which the rest of a batch is held. */
    readonly failureBudget: number;
    /** A file whose total differs by more than this from earlier ones of its pattern is held; null: none is. */
    readonly totalFactor: number | null;
    readonly maxConcurrency: number;
    /** From one poll of a pending invoice to the next, by the service profile; null: at the times of Lote. */
    readonly pollEveryMs: number | null;
    readonly retry: RetrySettings;
    /** How long a night waits for dropped files that are still being written. */
    readonly dropPatienceMs: number;
  };
  /** Operator links, for the current details of a run. */
  readonly operatorLinks: () => OperatorLinks;
  readonly log: ActivityLog;
  readonly now: () => number;
  /**
   * Epoch milliseconds for judging the age of a key, never too early: a clock that is set back does not lower it. With
   * `since`, the first use of the key, the time that the service's answers name counts, too. Without it, only this
   * machine's clock counts.
   */
  readonly latestNow: (since?: number) => number;
  readonly random: () => number;
}

/** From the service profile. */
export interface RetrySettings {
  /** Failed invoices with one of these go again by themselves. */
  readonly failedReasonCodes: readonly string[];
  readonly maxGenerations: number;
  /** POSTs that a batch may repeat, on average. */
  readonly repeatsPerInvoice: number;
  /**
   * For how long after its first POST a key may be used again: the service is known to remember it until its answer has
   * come.
   */
  readonly retentionMs: number;
  /** The profile names the code for a key known with other bytes, so that a refusal proves that nothing was created. */
  readonly rejectionIsProof: boolean;
  /**
   * The service answers a key that created an invoice with that invoice, so that the refusal of a repeat proves that
   * the key created nothing.
   */
  readonly refusedRepeatIsProof: boolean;
}

/** A report that the program of `LOTE_ON_REPORT` is run for; `html` and `json` are paths. */
export interface AnnouncedReport {
  readonly kind: 'batch' | 'night';
  readonly html: string;
  readonly json: string;
  readonly id: string;
  readonly state: string;
}

export interface ActivityLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** What an operator declares about a file that its bytes may not prove. */
export interface ReadOptions {
  /** Name of a mapping profile; without it the file's own name may choose one. */
  readonly profile?: string;
  readonly decimal?: ',' | '.';
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly sheet?: string;
  readonly duplicateRows?: 'refuse' | 'keep';
  readonly lookAlikes?: 'refuse' | 'keep';
}

/** A file that was read whole. `conversion` carries what `toInvoices` needs to turn its rows into invoices. */
export interface ReadFileOk<C> {
  readonly ok: true;
  readonly sha256: string;
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly findings: readonly Finding[];
  readonly proof: Readonly<Record<string, unknown>>;
  readonly conversion: C;
}

export interface ReadFileRefused {
  readonly ok: false;
  readonly sha256: string;
  readonly rows: number;
  readonly findings: readonly Finding[];
  readonly proof: Readonly<Record<string, unknown>>;
}

/** How files become rows and rows become invoices (src/ingest). `C` is the reader's own note between the two. */
export interface FileReader<C = unknown> {
  /** Absolute path of a file of the input directory. @throws LoteError `file-unreadable` when it is not one. */
  resolve(file: string): Promise<string>;
  hash(path: string): Promise<string>;
  /** Where the rows of one file wait until it is read whole: those of a large one in `ledgerRows`. */
  rows(ledgerRows: RowStore): RowStore;
  read(request: {
    path: string;
    store: RowStore;
    options: ReadOptions;
    signal: AbortSignal;
  }): Promise<ReadFileOk<C> | ReadFileRefused>;
  toInvoices(group: readonly RawRow[], conversion: C): readonly GroupedInvoice[];
  /** In what a file that was read before would be read otherwise now, in words; empty: in nothing. It may have been moved since. */
  readOtherwise(request: {
    readonly file: string;
    readonly sha256: string;
    readonly options: ReadOptions;
    readonly proof: Readonly<Record<string, unknown>>;
  }): Promise<readonly string[]>;
}

/** What the batch needs of a report that was written: its numbers, its paths, what changed since the one before. */
export interface ReportSummary {
  readonly batchId: string;
  readonly file: string;
  readonly state: 'refused' | 'cancelled' | 'finished';
  readonly counts: Counts;
  readonly reports: ReportPaths;
  /** As in `BatchResult`, by the findings of the batch. */
  readonly totalsDiffer?: string;
  readonly revision?: number;
  readonly changes?: readonly { readonly from: Outcome; readonly to: Outcome; readonly invoices: number }[];
}

/** Writes the report of a batch from the ledger. */
export interface ReportWriter {
  write(batchId: string): Promise<ReportSummary>;
  /** Returns the report that exists, if nothing changed since it was written; else null. */
  reuse(batchId: string): Promise<ReportSummary | null>;
  /**
   * What reports of the batch say was not sent, or must not be sent again, that the ledger does not know, because it was restored from an older copy; else nothing.
   * @throws LoteError `folder-unusable` when such a report cannot be read
   */
  rowsNotSent(batchId: string): Promise<RowsNotSent>;
}

/** What was not sent, sent again, or sent long ago, by reports that the ledger does not know. */
export interface RowsNotSent {
  /** The first row of each invoice that was not sent, or so long ago that the service may have forgotten its key. */
  readonly firstRows: readonly number[];
  /** What was sent again with a new key: the ledger may have an earlier generation of it, and its key must not be used any more. */
  readonly sentAgain: readonly SentAgain[];
  /** When the newest of these reports was written; epoch milliseconds. 0: there is none. */
  readonly writtenAt: number;
  /** Folders of the reports that say so, by their names in the reports folder: a file that was renamed has that of its other name. */
  readonly folders: readonly string[];
}

/** Whether Temporal still runs a workflow. A run that Temporal does not know counts as ended, if no later run of its workflow is open. */
export interface RunDirectory {
  /**
   * Also by the run in which it goes on after a reset in the Temporal UI, and, where Temporal does not know the run any more, by the latest of its
   * workflow. `asker`: the run that asks, which does not wait for itself.
   */
  isOpen(workflowId: string, runId: string, asker?: string): Promise<boolean>;
  /**
   * For how long the run has ended; null: it, or a later run of the same workflow (after a reset in the Temporal UI),
   * is open. Infinity: Temporal does not know it.
   */
  endedForMs(workflowId: string, runId: string): Promise<number | null>;
  /**
   * Tells one database of Temporal from another: one that was lost does not come back with the same id. Null: Temporal does not tell it to this installation.
   */
  temporalId(): Promise<string | null>;
  /**
   * That somebody terminated or cancelled the run, or the latest run of its workflow. False: it failed, or was lost with the database of Temporal that had it.
   * True also where the database is still the one that had the run (`temporalId`) and does not know it any more: it was removed, and nobody knows how it had ended.
   * So for a reconciliation that died while it closed a batch: nobody knows any more how the batch's own run ended.
   */
  wasStopped(run: Pick<BatchRecord, 'workflowId' | 'runId' | 'temporalId'>): Promise<boolean>;
}
