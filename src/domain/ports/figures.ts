import type { DurationHistogram } from '../time/duration-histogram.ts';
import type { Outcome } from '../invoice-state.ts';
import type { OutcomeCount } from './ledger/batch-record.ts';

/** What a report says of its batch in numbers: small, and without names, so that years of them can be drawn. */
export interface BatchFigures {
  /**
   * Invoices by outcome; outcomes that did not occur are left out. An issued invoice that another batch owns counts as `already-issued`, here, in `money`
   * and in `settling`; an older report has it as `issued`.
   */
  readonly states: Readonly<Partial<Record<Outcome, number>>>;
  /** Exact net sums by currency, which is null where it could not be read. */
  readonly money: readonly MoneyFigures[];
  /** From the first POST to the final word of the service. */
  readonly settling: DurationHistogram;
  /** Why invoices are not confirmed as issued: the ten largest groups. */
  readonly reasons: readonly { readonly state: Outcome; readonly code: string; readonly invoices: number }[];
  /** Invoices that went out and are in doubt; left out: none, or an older report does not say it. */
  readonly contradicted?: number;
  /** The balance of the batch; left out: an older report has none. */
  readonly outcomes?: readonly OutcomeCount[];
}

/** Exact net sums of one currency, canonical decimals. */
export interface MoneyFigures {
  readonly currency: string | null;
  /** Of all invoices. */
  readonly net: string;
  /** Of those that were issued and that this batch owns. */
  readonly out: string;
  /** Of those that another file has issued; left out: they are in `out`, as an older report has it. */
  readonly before?: string;
}

/** A batch of the last nights. `figures` is null while it has no report, or one of a Lote that kept none. */
export interface BatchInFigures {
  readonly application: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly figures: BatchFigures | null;
}

/** Figures of batches, as their last reports said them. */
export interface FiguresLedger {
  /** Batches whose files were read since then (epoch milliseconds), newest first, at most `limit`. */
  batchFigures(since: number, limit: number): Promise<readonly BatchInFigures[]>;
  /** What the last report of a batch said in numbers. Null: it has none, or one of a Lote that kept none. */
  reportFigures(batchId: string): Promise<BatchFigures | null>;
  /**
   * The balance of a closed batch as it is now, from its last report and what has changed since: the same as `countOutcomes`, without counting a
   * million invoices. Null: it is not closed, or no report of its last run tells it.
   */
  reportedOutcomes(batchId: string): Promise<readonly OutcomeCount[] | null>;
}
