import type { Finding } from '../src/domain/invoice.ts';
import type { GroupedInvoice, RawRow, RowStore } from '../src/domain/row.ts';
import type { SendingPermission } from './sending/sending-permission.ts';
import type { Calibration } from './calibration.ts';
import type { NotifyWaiting } from './failure.ts';
import type { OperatorLinks, BatchInput, BatchResult, BatchSettings } from '../src/domain/messages/messages.ts';
import type { Speech } from '../src/texts/languages.ts';
import type { NotedSend } from '../src/ledger/sending/lost-sends.ts';
import type { DropFolder } from '../src/nightly/claim-files.ts';
import type { InvoicingService } from '../src/service/client.ts';
import type { BatchRecord, BatchStop } from '../src/domain/records/batch-record.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { RunLog } from '../src/nightly/run-log.ts';
import type { NightMessages } from '../src/nightly/night-message.ts';

/** All dependencies of the activities. The entry points provide them, so that activities know no driver, no server and no file format. */
export interface ActivityDeps {
  readonly application: string;
  /** Language and format of texts for people (`LOTE_LANGUAGE`). */
  readonly speech: Speech;
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly files: FileReader;
  readonly reports: ReportWriter;
  readonly runs: RunDirectory;
  /** Starts runs again that are stuck because no worker continues them. */
  readonly restartRuns: () => Promise<readonly string[]>;
  /** Knows whether the profile is proved to read the service, how many invoices may go out, and which words count. */
  readonly calibration: Calibration;
  /** Notifies a batch why one of its activities is repeated; never rejects. */
  readonly notifyWaiting: NotifyWaiting;
  /** For nightly runs: the folder in which files are dropped, and the run log. */
  readonly drops: DropFolder;
  readonly nights: RunLog;
  /** Sends the message of a night by e-mail; null if that is not configured. */
  readonly messages: NightMessages | null;
  /** Runs the program of `LOTE_ON_REPORT` for a report; never rejects. */
  readonly announce: (report: AnnouncedReport) => Promise<void>;
  /** Requires the account that the ledger knows, and a ledger that knows all that was sent. @throws LoteError `interlock` */
  readonly requireAccount: () => Promise<unknown>;
  /** Notes sends outside of the ledger before their first POST. @throws LoteError `interlock` when the ledger does not know all that was sent */
  readonly noteSends: (sends: readonly NotedSend[]) => Promise<void>;
  /** Says whether this process may POST for a batch at this moment. */
  readonly permission: Pick<SendingPermission, 'request'>;
  /** Registers the webhook endpoint once; after a failure, settling relies on GET alone. */
  readonly ensureWebhook: () => Promise<void>;
  readonly settings: BatchSettings & {
    readonly pageSize: number;
    /** Share of refusals, 0 to 1, above which the rest of a batch is held. */
    readonly failureBudget: number;
    /** A file whose total differs by more than this from earlier ones of its pattern is held; null holds none. */
    readonly totalFactor: number | null;
    readonly maxConcurrency: number;
    /** Interval between polls of a pending invoice, by the service profile; null for Lote's own times. */
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
   * Epoch milliseconds for judging the age of a key: this machine's time or the time in the service's answers,
   * whichever is later. A clock that is set back does not lower it.
   */
  readonly latestNow: () => number;
  readonly random: () => number;
}

/** From the service profile. */
export interface RetrySettings {
  /** Lote sends a failed invoice with one of these codes again by itself. */
  readonly failedReasonCodes: readonly string[];
  readonly maxGenerations: number;
  /** How long after its first POST a key may be used again. After this, the service may forget the key before its answer comes. */
  readonly retentionMs: number;
  /** The profile names the code for a key known with other bytes, so a refusal proves that nothing was created. */
  readonly rejectionIsProof: boolean;
  /** The service answers a key that created an invoice with that invoice, so the refusal of a repeat proves that the key created nothing. */
  readonly refusedRepeatIsProof: boolean;
}

/** A report for the program of `LOTE_ON_REPORT`; `html` and `json` are paths. */
export interface AnnouncedReport {
  readonly kind: 'batch' | 'night';
  readonly html: string;
  readonly json: string;
  readonly id: string;
  readonly state: string;
}

/** Writes one line of the log. */
type Log = (message: string, fields?: Record<string, unknown>) => void;

/** Names of the options that an operator declares, because a file's bytes may not prove them. */
export const READ_OPTIONS = [
  ...(['profile', 'decimal', 'encoding', 'delimiter', 'sheet', 'duplicateRows', 'lookAlikes'] as const),
];

/** Options that an operator declares for a file. */
export type ReadOptions = Pick<BatchInput, (typeof READ_OPTIONS)[number]>;

interface ReadFile {
  readonly sha256: string;
  readonly rows: number;
  readonly findings: readonly Finding[];
  readonly proof: Readonly<Record<string, unknown>>;
}

/** A file that was read whole. `toInvoices` needs `conversion` to turn its rows into invoices. */
export interface ReadFileOk<C> extends ReadFile {
  readonly ok: true;
  readonly rowsWithoutInvoice: number;
  readonly conversion: C;
}

/** Turns files into rows and rows into invoices (src/ingest). `C` is what the reader keeps between the two steps. */
export interface FileReader<C = unknown> {
  /** Absolute path of a file of the input directory. @throws LoteError `file-unreadable` when it is not one. */
  resolve(file: string): Promise<string>;
  hash(path: string): Promise<string>;
  /** Returns the store for the rows of one file until it is read whole; `ledgerRows` for a large file. */
  rows(ledgerRows: RowStore): RowStore;
  read(request: {
    path: string;
    store: RowStore;
    options: ReadOptions;
    signal: AbortSignal;
  }): Promise<ReadFileOk<C> | (ReadFile & { readonly ok: false })>;
  toInvoices(group: readonly RawRow[], conversion: C): readonly GroupedInvoice[];
  /** Returns in words what would be read differently today, or an empty list. The file may have been moved. */
  readOtherwise(request: {
    readonly file: string;
    readonly sha256: string;
    readonly options: ReadOptions;
    readonly proof: Readonly<Record<string, unknown>>;
  }): Promise<readonly string[]>;
}

/** The part of a written report that the batch needs: its numbers, its paths, and the changes since the last one. */
export type ReportSummary = Omit<BatchResult, 'pagesFailed' | 'retried' | 'attachedTo'>;

/** Writes the report of a batch from the ledger. */
export interface ReportWriter {
  write(batchId: string): Promise<ReportSummary>;
  /** Returns the existing report if nothing changed since it was written, otherwise null. */
  reuse(batchId: string): Promise<ReportSummary | null>;
}

/** Tells whether Temporal still runs a workflow. An unknown run counts as ended if its workflow has no later open run. */
export interface RunDirectory {
  /**
   * Returns whether the run, or the latest run of its workflow, is open: a reset in the Temporal UI continues it there.
   * `asker` is the asking run, which does not wait for itself.
   */
  isOpen(workflowId: string, runId: string, asker?: string): Promise<boolean>;
  /** Returns whether the schedule that started the run is gone. */
  isSwitchedOff(workflowId: string, runId: string): Promise<boolean>;
  /**
   * Returns who terminated or cancelled the run, or the latest run of its workflow; null if it failed, or if Temporal
   * does not know it any more.
   */
  stopOf(run: Pick<BatchRecord, 'workflowId' | 'runId'>): Promise<BatchStop | null>;
}
