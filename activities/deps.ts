import type { Finding } from '../src/domain/invoice.ts';
import type { GroupedInvoice, RawRow, RowStore } from '../src/domain/row.ts';
import type { SendingPermission } from './sending/sending-permission.ts';
import type { Calibration } from './calibration.ts';
import type { NotifyWaiting } from './failure.ts';
import type { OperatorLinks, BatchInput, BatchResult, BatchSettings } from '../src/domain/messages/messages.ts';
import type { Speech } from '../src/texts/languages.ts';
import type { NotedSend } from '../src/ledger/sending/lost-sends.ts';
import type { DropFolder } from '../src/nightly/drop-folder.ts';
import type { InvoicingService } from '../src/service/client.ts';
import type { BatchRecord, BatchStop } from '../src/domain/records/batch-record.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { RunLog } from '../src/nightly/run-log.ts';
import type { MessageChannel, NightlyRunState } from '../src/domain/records/night.ts';

/** What a message tells of one nightly run. */
export interface NightOutcome {
  /** `2026-11-23`: the date under which the night has its page. */
  readonly date: string;
  readonly run: NightlyRunState;
}

/** Sends the message of a night to those who look after it. */
export interface NightMessages {
  /** The configured ways; none: no message is sent. */
  readonly channels: readonly MessageChannel[];
  /**
   * Sends it once; a repeat after a lost answer has the same id. Returns what is wrong although it was
   * taken; null: nothing.
   * @throws LoteError `message-unsent` when it may be taken later, `message-refused` when it will not
   */
  send(channel: MessageChannel, night: NightOutcome): Promise<string | null>;
}

/** Everything activities touch, handed in by the entry points: activities know no driver, no server, no file format. */
export interface ActivityDeps {
  readonly application: string;
  /** How what is written for people is spoken (`LOTE_LANGUAGE`). */
  readonly speech: Speech;
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly files: FileReader;
  readonly reports: ReportWriter;
  readonly runs: RunDirectory;
  /** Starts runs again with which no worker goes on. */
  readonly restartRuns: () => Promise<readonly string[]>;
  /** Whether the profile is proved to read the service: how many invoices may go out, and which words count. */
  readonly calibration: Calibration;
  /** Notifies a batch why one of its activities is repeated; never rejects. */
  readonly notifyWaiting: NotifyWaiting;
  /** For nightly runs: the folder in which files are dropped, and the run log. */
  readonly drops: DropFolder;
  readonly nights: RunLog;
  /** The message of a night, by the ways that are configured. */
  readonly messages: NightMessages;
  /** Runs the program of `LOTE_ON_REPORT` for a report; never rejects. */
  readonly announce: (report: AnnouncedReport) => Promise<void>;
  /** The account that this worker sends into is still the one that the ledger knows, and the ledger knows all that was sent. @throws LoteError `interlock` */
  readonly requireAccount: () => Promise<unknown>;
  /** Notes outside of the ledger what is about to leave, before its first POST. @throws LoteError `interlock` when the ledger does not know all that was sent */
  readonly noteSends: (sends: readonly NotedSend[]) => Promise<void>;
  /** Whether this process may POST for a batch at this moment. */
  readonly permission: Pick<SendingPermission, 'request'>;
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
  readonly log: Readonly<Record<'info' | 'warn' | 'error', Log>>;
  readonly now: () => number;
  /**
   * Epoch milliseconds for judging the age of a key: the later one of this machine's time and the time that the service's
   * answers name. A clock that is set back does not lower it.
   */
  readonly latestNow: () => number;
  readonly random: () => number;
}

/** From the service profile. */
export interface RetrySettings {
  /** Failed invoices with one of these go again by themselves. */
  readonly failedReasonCodes: readonly string[];
  readonly maxGenerations: number;
  /** POSTs that a batch may repeat, on average. */
  readonly repeatsPerInvoice: number;
  /** For how long after its first POST a key may be used again: the service is known to remember it until its answer has come. */
  readonly retentionMs: number;
  /** The profile names the code for a key known with other bytes, so that a refusal proves that nothing was created. */
  readonly rejectionIsProof: boolean;
  /** The service answers a key that created an invoice with that invoice, so that the refusal of a repeat proves that the key created nothing. */
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

/** Writes one line of the log. */
type Log = (message: string, fields?: Record<string, unknown>) => void;

/** Names of what an operator declares about a file that its bytes may not prove. */
export const READ_OPTIONS = [
  ...(['profile', 'decimal', 'encoding', 'delimiter', 'sheet', 'duplicateRows', 'lookAlikes'] as const),
];

/** What an operator declares about a file. */
export type ReadOptions = Pick<BatchInput, (typeof READ_OPTIONS)[number]>;

interface ReadFile {
  readonly sha256: string;
  readonly rows: number;
  readonly findings: readonly Finding[];
  readonly proof: Readonly<Record<string, unknown>>;
}

/** A file that was read whole. `conversion` carries what `toInvoices` needs to turn its rows into invoices. */
export interface ReadFileOk<C> extends ReadFile {
  readonly ok: true;
  readonly rowsWithoutInvoice: number;
  readonly conversion: C;
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
  }): Promise<ReadFileOk<C> | (ReadFile & { readonly ok: false })>;
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
export type ReportSummary = Omit<BatchResult, 'pagesFailed' | 'retried' | 'attachedTo'>;

/** Writes the report of a batch from the ledger. */
export interface ReportWriter {
  write(batchId: string): Promise<ReportSummary>;
  /** Returns the report that exists, if nothing changed since it was written; else null. */
  reuse(batchId: string): Promise<ReportSummary | null>;
}

/** Whether Temporal still runs a workflow. A run that Temporal does not know counts as ended, if no later run of its workflow is open. */
export interface RunDirectory {
  /**
   * Whether the run, or the latest run of its workflow, is open: after a reset in the Temporal UI it goes on in that one.
   * `asker`: the run that asks, which does not wait for itself.
   */
  isOpen(workflowId: string, runId: string, asker?: string): Promise<boolean>;
  /** Whether the schedule that started the run is gone. */
  isSwitchedOff(workflowId: string, runId: string): Promise<boolean>;
  /**
   * Tells one database of Temporal from another: one that was lost does not come back with the same id. Null: Temporal does not tell it to this installation.
   */
  temporalId(): Promise<string | null>;
  /**
   * Who terminated or cancelled the run, or the latest run of its workflow; null: it failed, or was lost with the database of Temporal that had it.
   * `deleted` where the database is still the one that had the run (`temporalId`) and does not know it any more.
   */
  stopOf(run: Pick<BatchRecord, 'workflowId' | 'runId' | 'temporalId'>): Promise<BatchStop | null>;
}
