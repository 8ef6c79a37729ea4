import type { Night, WaitingFile } from './drop-folder.ts';

/** What became of one dropped file. */
export type NightVerdict =
  /** Every invoice went out. */
  | 'issued'
  /** Finished, and some invoices or rows need somebody. */
  | 'attention'
  /** Nothing of it was sent. */
  | 'refused'
  /** Its run ended without a result. */
  | 'failed';

export interface NightEntry {
  readonly slot: string;
  /** Name under which it was dropped. */
  readonly name: string;
  /** Where it lies now, relative to the input directory; null: somebody else took it. */
  readonly shelvedAs: string | null;
  readonly verdict: NightVerdict;
  readonly sentences: readonly string[];
  /** The same bytes had been dropped before this night. */
  readonly known: boolean;
  readonly resumed: boolean;
  readonly batchId: string | null;
  readonly invoices: number;
  readonly issued: number;
  /** Path of report.html, and of the corrections file. */
  readonly report: string | null;
  readonly corrections: string | null;
}

export interface NightEnd {
  readonly waiting: readonly WaitingFile[];
  readonly finishedAt: number;
}

export interface NightSummaryPaths {
  readonly json: string;
  readonly html: string;
}

/** The summary of a date's nights: written anew after every file, so that a night that is killed still has one. */
export interface NightBook {
  record(night: Night, entry: NightEntry): Promise<NightSummaryPaths>;
  finish(night: Night, end: NightEnd): Promise<NightSummaryPaths & { readonly entries: readonly NightEntry[] }>;
}
