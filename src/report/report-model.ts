import type { DurationHistogram } from '../domain/time/duration-histogram.ts';
import type { Finding, Reason } from '../domain/invoice.ts';
import type { Contradiction, Outcome } from '../domain/invoice-state.ts';
import type { BatchState, Contradicted, OutcomeCount } from '../domain/ports/ledger/batch-record.ts';
import type { ReportHistory } from './report-history.ts';
import type { ReportNote } from './report-note.ts';

/** Value of `schema` in `report.json`. A change that breaks readers raises its number. */
export const REPORT_SCHEMA = 'lote.report/1';

/** A batch that is still being read has no report. */
export type ReportedBatchState = Exclude<BatchState, 'staging'>;

/** From where a report is: a ledger that was restored from an older copy asks whether it concerns it. */
export interface ReportOrigin {
  /** Id of the ledger. */
  readonly ledger: string;
  /** A digest of the account that the invoices were sent into. Null: the built-in sandbox. */
  readonly account: string | null;
}

/** The batch, as `report.json` shows it. Times are ISO 8601 in UTC. */
export interface ReportBatch extends Partial<ReportOrigin> {
  readonly id: string;
  readonly file: string;
  readonly sha256: string;
  readonly application: string;
  readonly state: ReportedBatchState;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly writtenAt: string;
  readonly revision: number;
  readonly proof: Readonly<Record<string, unknown>>;
}

/** Every state has an entry, also with 0, so that readers need not know which may be missing. */
export interface ReportCounts extends Readonly<Record<Outcome, number>> {
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  /** Of those, rows that are no totals rows: lost lines, or lost invoices. */
  readonly rowsLost: number;
  readonly invoices: number;
  /** Of those that went out, the ones in doubt; left out: none. */
  readonly contradicted?: number;
}

/** Number of invoices and their exact net sum in one currency. */
export interface CurrencyTotal {
  /** null: the currency could not be read. */
  readonly currency: string | null;
  readonly invoices: number;
  /** Exact decimal, without tax. */
  readonly net: string;
  /** Invoices whose amount could not be read, and so is not in `net`. */
  readonly withoutAmount: number;
  readonly byState: Readonly<Partial<Record<Outcome, string>>>;
}

/** Invoices that are in one state for one reason. */
export interface ReasonGroup {
  readonly state: Outcome;
  readonly code: string;
  /** The words of the first invoice that had this reason. */
  readonly message: string;
  readonly invoices: number;
  readonly examples: readonly { readonly ref: string; readonly rows: readonly number[] }[];
}

/** What was found of a service profile that does not fit. Times are ISO 8601 in UTC. */
export interface ReportMisfit {
  readonly code: string;
  readonly message: string;
  readonly times: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

/** Everything that the report says before the list of invoices; it balances, or it was never built. */
export interface ReportModel {
  readonly batch: ReportBatch;
  readonly counts: ReportCounts;
  /** What counts and totals are made of. */
  readonly outcomes: readonly OutcomeCount[];
  /** The same for sums over batches: an issued invoice that another batch owns counts as `already-issued`. */
  readonly ownOutcomes: readonly OutcomeCount[];
  readonly totals: readonly CurrencyTotal[];
  /** Largest first; without the invoices that went out. */
  readonly reasons: readonly ReasonGroup[];
  /** From the first POST of an invoice to the service's final word. */
  readonly settling: DurationHistogram;
  /** The same for sums over batches: without issued invoices that another batch owns. */
  readonly ownSettling: DurationHistogram;
  readonly fileFindings: readonly Finding[];
  readonly notes: readonly ReportNote[];
  readonly misfits: readonly ReportMisfit[];
  readonly history: ReportHistory;
  /** Invoices that went out and may exist twice, or have failed. */
  readonly contradicted: Contradicted;
  /** Every invoice issued, none of them in doubt, and every data row accounted for in one. */
  readonly everythingIssued: boolean;
}

/** One invoice as report.json shows it. */
export interface ReportInvoice {
  readonly ref: string;
  readonly merchantNif: string;
  readonly rows: readonly number[];
  readonly state: Outcome;
  readonly currency: string | null;
  readonly net: string | null;
  readonly serviceId: string | null;
  readonly idempotencyKey: string | null;
  readonly generation: number;
  readonly attempts: number;
  readonly reason: Reason | null;
  readonly sentAt: string | null;
  readonly settledAt: string | null;
  readonly findings: readonly Finding[];
  readonly flags: readonly string[];
  /** Why it is in doubt although it went out; left out: it is not. */
  readonly contradictions?: readonly Contradiction[];
}
