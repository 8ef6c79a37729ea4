import type { BatchStop } from './batch-record.ts';
import type { WaitingFile } from './dropped-file.ts';

/** What became of one dropped file. */
export type NightlyVerdict =
  /** Every invoice went out. */
  | 'issued'
  /** Finished, and some invoices or rows need an operator. */
  | 'attention'
  /** Nothing of it was sent. */
  | 'refused'
  /** Its run ended without a result. */
  | 'failed';

/** What became of a dropped file and what to do next: a sentence each, in the language of the reader. */
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

/** What one nightly run did with one dropped file, for the summary of that date. */
export interface NightlyRunEntry {
  readonly slot: string;
  /** Name under which it was dropped. */
  readonly name: string;
  /** Its place now, relative to the input directory; null: it was taken out of its claim folder. */
  readonly shelvedAs: string | null;
  readonly verdict: NightlyVerdict;
  /** The remarks in English. */
  readonly sentences: readonly string[];
  readonly remarks: readonly NightlyRemark[];
  /** The same bytes had been dropped before this night. */
  readonly known: boolean;
  readonly resumed: boolean;
  readonly batchId: string | null;
  /** Present: the batch had not ended, and an operator must act before it goes on. */
  readonly waitsFor?: 'total-unusual' | 'resume';
  readonly invoices: number;
  readonly issued: number;
  /**
   * Of the issued ones, those that an earlier file had issued or that belong to its batch; of a file that had been dropped before, also what its
   * batch had issued before this night. Left out: none.
   */
  readonly alreadyIssued?: number;
  /** Path of report.html, and of the corrections file. */
  readonly report: string | null;
  readonly corrections: string | null;
}

/** End of a nightly run: the files that it left in the inbox, and the time in epoch milliseconds. */
export interface NightlyRunEnd {
  readonly waiting: readonly WaitingFile[];
  readonly finishedAt: number;
}

/** A way by which the message of a night goes out. */
export type MessageChannel = 'email';

/** What became of the message of a night on one way. `at` is epoch milliseconds. */
export interface NightMessageNote {
  readonly channel: MessageChannel;
  /** `unsent`: it is tried again. `refused`: it is not tried again. */
  readonly state: 'sent' | 'unsent' | 'refused';
  readonly at: number;
  /** Why it was not sent, or what is wrong although it was; null: nothing. Without addresses and secrets. */
  readonly detail: string | null;
}

/** One nightly run, read from its files under `runs/`. */
export interface NightlyRunState {
  readonly night: string;
  readonly workflowId: string;
  readonly startedAt: number;
  /** null: it runs still, or was interrupted; the next night goes on with what it left. */
  readonly finishedAt: number | null;
  readonly files: readonly NightlyRunEntry[];
  readonly waiting: readonly WaitingFile[];
  readonly messages: readonly NightMessageNote[];
}

/** Paths of the summary of one date. */
export interface NightlySummaryPaths {
  readonly json: string;
  readonly html: string;
}
