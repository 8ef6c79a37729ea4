import type { BatchStop } from './batch-record.ts';
import type { WaitingFile } from './dropped-file.ts';

/** The result of one dropped file. */
export type NightlyVerdict =
  /** Every invoice is issued. */
  | 'issued'
  /** The batch has finished, and some invoices or rows need an operator. */
  | 'attention'
  /** Nothing of the file was sent. */
  | 'refused'
  /** The run of the file ended without a result. */
  | 'failed';

/** The result of a dropped file and the next step: one sentence each, in the language of the reader. */
export type NightlyRemark =
  | { readonly kind: 'resumed' | 'drop-again' | 'refused' | 'read-report' | 'use-corrections' | 'paused' }
  | { readonly kind: 'dropped-before'; readonly at: number; readonly file: string }
  | { readonly kind: 'run-failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'held'; readonly difference: string }
  | ({ readonly kind: 'stopped' } & BatchStop)
  | { readonly kind: 'person-continues'; readonly command: string }
  | { readonly kind: 'confirm-total'; readonly command: string }
  | {
      readonly kind: 'all-out' | 'rows-without-invoice' | 'contradicted' | 'events-of-unknown-invoices';
      readonly n: number;
    }
  | { readonly kind: 'missing'; readonly n: number; readonly of: number };

/** The result of one dropped file in one nightly run, for the summary of that date. */
export interface NightlyRunEntry {
  readonly slot: string;
  /** Name of the file when it was dropped. */
  readonly name: string;
  /** Present path of the file, relative to the input directory; null if it was removed from its claim folder. */
  readonly shelvedAs: string | null;
  readonly verdict: NightlyVerdict;
  /** The remarks in English. */
  readonly sentences: readonly string[];
  readonly remarks: readonly NightlyRemark[];
  /** The same bytes were dropped before this night. */
  readonly known: boolean;
  readonly resumed: boolean;
  readonly batchId: string | null;
  /** Set if the batch has not ended and an operator must act before it goes on. */
  readonly waitsFor?: 'total-unusual' | 'resume';
  readonly invoices: number;
  readonly issued: number;
  /**
   * Number of issued invoices that an earlier file had issued or that belong to its batch. For a file that was dropped
   * before, includes what its batch had issued before this night. The default is none.
   */
  readonly alreadyIssued?: number;
  /** Paths of report.html and of the corrections file. */
  readonly report: string | null;
  readonly corrections: string | null;
}

/** The end of a nightly run: the files that it left in the inbox, and the time in epoch milliseconds. */
export interface NightlyRunEnd {
  readonly waiting: readonly WaitingFile[];
  readonly finishedAt: number;
}

/** The result of sending the message of a night by e-mail. `at` is in epoch milliseconds. */
export interface NightMessageNote {
  /** Lote tries again after `unsent`, but not after `refused`. */
  readonly state: 'sent' | 'unsent' | 'refused';
  readonly at: number;
  /** Why the message was not sent, or what is wrong although it was; null if nothing is wrong. Without addresses and secrets. */
  readonly detail: string | null;
}

/** One nightly run, read from its files under `runs/`. */
export interface NightlyRunState {
  readonly night: string;
  readonly workflowId: string;
  readonly startedAt: number;
  /** Null while the run goes on or if it was interrupted; the next night continues with the remaining files. */
  readonly finishedAt: number | null;
  readonly files: readonly NightlyRunEntry[];
  readonly waiting: readonly WaitingFile[];
  /** Null while Lote has not tried to send one. */
  readonly message: NightMessageNote | null;
}

/** Paths of the summary of one date. */
export interface NightlySummaryPaths {
  readonly json: string;
  readonly html: string;
}
