import { z } from 'zod';
import type { Finding } from '../domain/invoice.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import type { ReconciliationResult, RetryRequestInput } from '../domain/messages/messages.ts';
import type { People } from './http/people.ts';
import type { Operations, RunAnswer, RunRequest } from './operations.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Readiness } from '../domain/records/readiness.ts';
import type { Column } from '../domain/row.ts';

/** An operator's declarations about a file, which Lote otherwise reads from the file itself. */
export interface Declared {
  readonly decimal?: ',' | '.';
  readonly encoding?: string;
  /** Name of a mapping profile. Optional: by default the file's name may choose a profile. */
  readonly profile?: string;
  /** Name of the sheet of a workbook. Optional: the default is the only visible sheet with a known header. */
  readonly sheet?: string;
  readonly duplicateRows?: 'refuse' | 'keep';
  readonly lookAlikes?: 'refuse' | 'keep';
  /** Used only by the start: corrected content replaces rejected content even if the refusal does not prove that nothing was created. */
  readonly acceptDuplicateRisk?: boolean;
}

/** A longer text is not a reason but a story, and Temporal's history keeps each reason. */
export const LONGEST_REASON = 300;
/** A person's reason for an order; never empty. */
export const ReasonText = z.string().trim().min(1).max(LONGEST_REASON);

/** An operator's order for a running batch, as a form sends it. */
export const OperationForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['pause', 'cancelRemaining']), reason: ReasonText }),
  z.object({
    kind: z.literal('confirmTotal'),
    invoices: z.stringFormat('count', /^\s*\d{1,9}\s*$/u).transform(Number),
    reason: ReasonText,
  }),
  z.object({ kind: z.enum(['resume', 'settleNow']) }),
]);

/** An operator's order for a running batch. The `reason` goes into the audit; `invoices` is the number of invoices of the unusual total. */
export type Operation = Readonly<z.infer<typeof OperationForm>>;

/** Which invoices of a batch Lote sends again: all in some states, or those that have one of the rows. */
export interface RetryWish extends Omit<RetryRequestInput, 'who'> {
  readonly batchId: string;
  readonly acceptDuplicateRisk: boolean;
  readonly by: string;
}

/** The outcome of a retry request. `moved` is a number of invoices; `refused` has numbers of invoices by refusal code. */
export type RetryAnswer =
  /** The retry goes on; the batch runs again. */
  | { readonly how: 'started' }
  /** The batch is running, and its run takes up the invoices. */
  | { readonly how: 'joined' }
  /** The retry ended while the caller waited. */
  | { readonly how: 'ended'; readonly moved: number; readonly refused: Readonly<Record<string, number>> };

/** Says whether the reconciliation ended while the caller waited, and then has its numbers, as in `ReconciliationResult`. */
export type ReconcileAnswer =
  | { readonly how: 'started' }
  | ({ readonly how: 'ended' } & Pick<ReconciliationResult, 'asked' | 'settled' | 'serviceAway'>);

/** State that only the run of a batch knows. */
export interface BatchWatch {
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** Why the batch waits; null if it goes on. */
  readonly waitingFor: string | null;
}

/** Actions that the console offers. The owner of a data directory alone has the first three, for programs that carry the token. */
export interface ConsoleActions {
  /** `note` runs before each batch starts; if it rejects, neither that batch nor the following ones start. */
  readonly run?: (request: RunRequest, note: (batchId: string, file: string) => Promise<void>) => Promise<RunAnswer>;
  readonly purge?: Operations['purge'];
  readonly rowsOfRefs?: Operations['rowsOfRefs'];
  readonly files: {
    /** Keeps a file under `incoming/` of the input directory. Resolves to its name there. @throws LoteError `usage` when the file is too large */
    keep(name: string, content: AsyncIterable<Uint8Array>): Promise<string>;
    check(file: string, declared: Declared): Promise<FileCheck>;
    readonly mapper: FileMapper;
    /** Starts a file's batch, or joins it. `note` writes into the audit first. @throws LoteError `file-changed` unless file and profile are as checked */
    start(
      file: string,
      declared: Declared,
      note: (batchId: string) => Promise<void>,
      checked?: CheckedBytes,
    ): Promise<{ readonly batchId: string; readonly sha256: string }>;
  };
  /** Sends an update to the batch's run; resolves to a sentence. `by` goes into the audit. @throws LoteError `batch-not-found` when no run exists */
  readonly operate: (workflowId: string, operation: Operation, by: string) => Promise<string>;
  readonly retry: (wish: RetryWish) => Promise<RetryAnswer>;
  readonly reconcile: () => Promise<ReconcileAnswer>;
  readonly watch: (workflowId: string) => Promise<BatchWatch | null>;
}

/** A setting of the service profile as the page shows it; values are JSON without secrets. */
export interface ShownSetting {
  readonly key: string;
  /** The meaning of the setting, in English; text between backticks is code. */
  readonly words: string;
  readonly value: string;
  readonly default: string;
  readonly differs: boolean;
}

/** One line of the health page. */
export interface HealthCheck {
  readonly name: string;
  readonly state: 'ok' | 'trouble' | 'unknown';
  /** The finding and, in trouble, the cure. Never a secret. */
  readonly detail: string;
  /** The time that the detail is about; shown in the reader's zone. */
  readonly at?: number;
}

/** Everything that the console of one process needs: its data, its actions, and its access rules. */
export interface ConsoleOptions {
  /** The console only reads it, and acts through `actions`. */
  readonly ledger: Ledger;
  readonly reportsDir: string;
  /** `temporalUi`: address of the Temporal UI, or null if there is no UI. */
  readonly links: { readonly temporalUi: string | null; readonly namespace?: string };
  readonly application?: string;
  readonly serviceProfile?: Readonly<Record<string, unknown>>;
  readonly profileSettings?: readonly ShownSetting[];
  readonly version: string;
  /** Proves the caller: required for POSTs without a same-origin page, and for every request if `access` is `token`. */
  readonly token?: string;
  /** `loopback` (default): every local caller may read. `token`: only callers with the token may. */
  readonly access?: 'loopback' | 'token';
  readonly hosts?: readonly string[];
  readonly people?: People;
  /** Missing if this process has no Temporal connection: the console then only shows data, and the first page says so. */
  readonly actions?: ConsoleActions;
  readonly ready: () => Promise<Readiness>;
  readonly health?: () => Promise<readonly HealthCheck[]>;
  readonly misfits?: () => Promise<readonly ProfileMisfit[]>;
  /** Language for readers whose browser asks for no language of the console, such as `pt-BR`; default: English. */
  readonly language?: string;
  /** IANA zone in which times are shown; default: the machine's. */
  readonly timeZone?: string;
  readonly onError?: (error: unknown) => void;
}

/** Meaning of a file's column: a column of Lote, a part of the reference, which rows are invoices, or nothing. */
export type ColumnMeaning = Column | 'reference-part' | 'kind' | 'none';

/** The values of a column that mark rows as invoices or as rows to skip. */
export interface KindValues {
  readonly skip: readonly string[];
  readonly invoices: readonly string[];
}

/** A point that a person should look at before confirming: a code, the column, and the column compared with it. */
export interface MappingLook {
  readonly code: 'differs' | 'same-reference' | 'merchants';
  readonly header: string;
  readonly other: string;
}

/** A person's choices so far about how to read a file. A missing choice is as the file shows it. */
export interface MappingChoices {
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly sheet?: string;
  readonly decimal?: ',' | '.';
  /** By place in the header, from 0. */
  readonly meanings: ReadonlyMap<number, ColumnMeaning>;
  /** The header for which the person chose the meanings: for another header Lote proposes them anew. */
  readonly headerId?: string;
  /** By place in the header. Optional: by default no value is skipped. */
  readonly kinds?: ReadonlyMap<number, Partial<KindValues>>;
  readonly separator?: string;
  readonly constants: Readonly<Partial<Record<Column, string>>>;
  readonly taxCodes: ReadonlyMap<string, string>;
}

/** A column of the file with its current meaning. */
export interface MappedColumn {
  /** Empty if the header has no word: such a column cannot be chosen. */
  readonly header: string;
  readonly samples: readonly string[];
  readonly meaning: ColumnMeaning;
  /** Null unless the column says which rows are invoices. */
  readonly kind: KindValues | null;
  /** False for a member of JSON that Lote reads: its place decides its meaning. */
  readonly isOpen: boolean;
}

/** The head of a file with the choices applied, and the result of a dry run with them. */
export interface MappedFile {
  /** Row of the header, counted from 1. */
  readonly headerRow: number;
  readonly headerId: string;
  readonly columns: readonly MappedColumn[];
  readonly looks: readonly MappingLook[];
  readonly dialect: { readonly encoding: string; readonly delimiter: string } | null;
  /** Visible sheets of a workbook; empty for text. */
  readonly sheets: readonly string[];
  readonly sheet: string | null;
  readonly open: readonly Column[];
  readonly missing: readonly Column[];
  /** Columns of Lote that several columns of the file mean: Lote cannot read such a file. */
  readonly twice: readonly Column[];
  readonly separator: string;
  /** Words of the tax column that are not codes of the service, with the code for each word, or '' if it has none. */
  readonly taxWords: readonly { readonly word: string; readonly code: string }[];
  /** Null while columns of Lote are missing or meant twice. */
  readonly check: FileCheck | null;
  /** False if the mapping is incomplete, for another header, or refused by the dry run. */
  readonly isRead: boolean;
  /** The mapping as the text of a profile. */
  readonly profile: string;
  readonly suggestedName: string;
}

/** Outcome of a save. `taken`: Lote never overwrites a profile. `open`: missing columns, columns meant twice, a refused dry run, or a changed header. */
export type KeptMapping = 'saved' | 'name' | 'taken' | 'open';

/** Maps the columns of a file by hand. */
export interface FileMapper {
  /** Applies the choices; resolves to null if the file is not a table. @throws LoteError `file-unreadable`, `usage` */
  readonly view: (file: string, choices: MappingChoices) => Promise<MappedFile | null>;
  /** Saves the mapping as `profiles/NAME.json` of the input folder. @throws LoteError `folder-unusable`, and those of `view` */
  readonly save: (mapping: {
    readonly file: string;
    readonly choices: MappingChoices;
    readonly name: string;
    readonly by: string;
  }) => Promise<KeptMapping>;
}

/** The result of a dry run, which sends nothing from this machine. */
export interface FileCheck {
  readonly refused: boolean;
  readonly sha256: string;
  readonly proof: Readonly<Record<string, unknown>>;
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly rowsLost: number;
  readonly invoices: number;
  readonly invalid: number;
  /** Net by currency of the valid invoices, which Lote would send. */
  readonly netOfValid: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** Bytes of the first invoices, exactly as Lote would send them; only the merchant's id is unknown until then. */
  readonly firstBodies: readonly string[];
}

/** The bytes that a person has checked before the start; a missing member is not compared. */
export interface CheckedBytes {
  readonly sha256?: string | undefined;
  /** SHA-256 of the mapping profile with which the file was read; empty if none was used. */
  readonly profile?: string | undefined;
}
