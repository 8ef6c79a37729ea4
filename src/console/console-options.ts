import type { CheckedBytes, FileCheck, FileMapper } from './mapping/file-mapper.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import type { ReconciliationResult, RetryRequestInput } from '../domain/messages/messages.ts';
import type { People } from './people/people.ts';
import type { Operations, RunAnswer, RunRequest } from './operations.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Readiness } from '../domain/records/readiness.ts';

/** What the console reads; it never writes to the ledger itself. */
export type ConsoleLedger = Pick<
  Ledger,
  | 'id'
  | 'listBatches'
  | 'findBatch'
  | 'batchOfFile'
  | 'countOutcomes'
  | 'fileFindings'
  | 'decidingFindings'
  | 'contradictedInvoices'
  | 'batchInvoices'
  | 'invoicesWith'
  | 'unmatchedDeliveries'
  | 'batchFigures'
  | 'reportedOutcomes'
  | 'searchInvoices'
  | 'invoiceDetails'
  | 'auditOf'
  | 'totalCheck'
>;

/** Which files a run that is handed over may read, and where it is written down who started it. */
export interface RunAccess {
  /** Whether files may lie anywhere: the caller showed the console's token, so it can read what the owner can. Else: the input directory. */
  readonly anywhere: boolean;
  /** Called before each batch starts; when it rejects, that batch and those after it are not started. */
  readonly note: (batchId: string, file: string) => Promise<void>;
}

/** What an operator declares about a file instead of letting the file prove it. */
export interface Declared {
  readonly decimal?: ',' | '.';
  readonly encoding?: string;
  /** Name of a mapping profile; left out: the file's name may choose one. */
  readonly profile?: string;
  /** Name of the sheet of a workbook; left out: the only visible one with a known header. */
  readonly sheet?: string;
  readonly duplicateRows?: 'refuse' | 'keep';
  readonly lookAlikes?: 'refuse' | 'keep';
  /** For the start alone: corrected content replaces what was rejected also where the refusal is no proof. */
  readonly acceptDuplicateRisk?: boolean;
}

/** What an operator orders for a running batch. The `reason` goes into the audit. */
export type Operation =
  | { readonly kind: 'pause' | 'cancelRemaining'; readonly reason: string }
  /** The number of invoices that an unusual total has. */
  | { readonly kind: 'confirmTotal'; readonly invoices: number; readonly reason: string }
  | { readonly kind: 'resume' }
  | { readonly kind: 'settleNow' };

/** Which invoices of a batch go again: all of some states, or those that have one of the rows. */
export interface RetryWish extends Omit<RetryRequestInput, 'who'> {
  readonly batchId: string;
  readonly acceptDuplicateRisk: boolean;
  readonly by: string;
}

/** How a retry was taken up. `moved` is a number of invoices; `refused` has numbers of invoices by refusal code. */
export type RetryAnswer =
  /** It goes on; the batch runs again. */
  | { readonly how: 'started' }
  /** The batch runs: its run takes them up. */
  | { readonly how: 'joined' }
  /** Ended while the caller waited. */
  | { readonly how: 'ended'; readonly moved: number; readonly refused: Readonly<Record<string, number>> };

/** Whether the reconciliation has ended while the caller waited; if so, its numbers, as in `ReconciliationResult`. */
export type ReconcileAnswer =
  | { readonly how: 'started' }
  | ({ readonly how: 'ended' } & Pick<
      ReconciliationResult,
      'asked' | 'settled' | 'repeated' | 'found' | 'serviceAway' | 'profileFoundWrong' | 'orphans'
    >);

/** What only the run of a batch knows. */
export interface BatchWatch {
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** Why nothing goes on; null: it goes on. */
  readonly waitingFor: string | null;
}

/** Actions that the console offers; each is present only where the process that serves the console can do it. */
export interface ConsoleActions {
  readonly run?: (request: RunRequest, access: RunAccess) => Promise<RunAnswer>;
  /** For programs that carry the token, never for a page. */
  readonly purge?: Operations['purge'];
  /** For programs that carry the token, never for a page. */
  readonly rowsOfRefs?: Operations['rowsOfRefs'];
  readonly files?: {
    /** Keeps a file under `incoming/` of the input directory; its name relative to that. @throws LoteError `usage` when it is too large */
    keep(name: string, content: AsyncIterable<Uint8Array>): Promise<string>;
    check(file: string, declared: Declared): Promise<FileCheck>;
    readonly mapper: FileMapper;
    /** Starts a file's batch, or joins it. `note` writes into the audit before. @throws LoteError `file-changed` unless file and profile are as checked */
    start(
      file: string,
      declared: Declared,
      note: (batchId: string) => Promise<void>,
      checked?: CheckedBytes,
    ): Promise<{ readonly batchId: string; readonly sha256: string }>;
  };
  /** An update of the batch's running workflow; its answer is a sentence. `by` goes into the audit. @throws LoteError `batch-not-found` when nothing runs */
  readonly operate?: (workflowId: string, operation: Operation, by: string) => Promise<string>;
  readonly retry?: (wish: RetryWish) => Promise<RetryAnswer>;
  readonly reconcile?: () => Promise<ReconcileAnswer>;
  readonly watch?: (workflowId: string) => Promise<BatchWatch | null>;
}

/** A setting of the service profile as the page shows it; values are JSON without secrets. */
export interface ShownSetting {
  readonly key: string;
  /** What it means, in English; `…` between backticks is code. */
  readonly words: string;
  readonly value: string;
  readonly default: string;
  readonly differs: boolean;
}

/** One line of the health page. */
export interface HealthCheck {
  readonly name: string;
  readonly state: 'ok' | 'trouble' | 'unknown';
  /** What was found and, in trouble, what to do. Never a secret. */
  readonly detail: string;
  /** A moment that the detail is about; shown in the reader's zone. */
  readonly at?: number;
}

/** Everything that the console of one process needs: what it reads, what it may set in motion, who may use it. */
export interface ConsoleOptions {
  readonly ledger: ConsoleLedger;
  readonly reportsDir: string;
  /** `temporalUi`: address of the Temporal UI, null when there is none. */
  readonly links: { readonly temporalUi: string | null; readonly namespace?: string };
  readonly application?: string;
  readonly serviceProfile?: Readonly<Record<string, unknown>>;
  readonly profileSettings?: readonly ShownSetting[];
  readonly version: string;
  /** Proof of the caller: needed for POSTs without a same-origin page, and for everything where `access` is `token`. */
  readonly token?: string;
  /** `loopback` (default): every local caller may read. `token`: only callers with the token may. */
  readonly access?: 'loopback' | 'token';
  readonly hosts?: readonly string[];
  readonly people?: People;
  readonly actions?: ConsoleActions;
  /** True: this process has no Temporal connection, so that the console only shows; the first page says so. */
  readonly showsOnly?: boolean;
  readonly ready: () => Promise<Readiness>;
  readonly health?: () => Promise<readonly HealthCheck[]>;
  readonly misfits?: () => Promise<readonly ProfileMisfit[]>;
  /** For readers whose browser asks for no language of the console, such as `pt-BR`; default: English. */
  readonly language?: string;
  /** IANA zone in which times are shown; default: the machine's. */
  readonly timeZone?: string;
  readonly onError?: (error: unknown) => void;
}
