import type { DeliveryTrouble } from '../ledger/webhooks/deliveries.ts';
import type { DurationHistogram } from '../domain/time/duration-histogram.ts';
import type { CurrencyTotal } from '../domain/outcome-counts.ts';
import type { Finding, Reason } from '../domain/invoice.ts';
import { type Contradiction, type Outcome, wentOut } from '../domain/invoice-state.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import type {
  BatchInvoice,
  BatchRecord,
  BatchState,
  Contradicted,
  OutcomeCount,
} from '../domain/records/batch-record.ts';
import { isoTime } from '../domain/time/instants.ts';
import type { AuditEntry } from '../ledger/operations/audit.ts';
import type { SinceReport } from '../ledger/operations/report-marks.ts';
import { LoteError } from '../domain/errors.ts';

/** Value of `schema` in `report.json`. A change that breaks readers must raise its number. */
export const REPORT_SCHEMA = 'lote.report/1';

/** The origin of a report, by which a restored ledger decides whether the report concerns it. */
export interface ReportOrigin {
  readonly ledger: string;
  /** Digest of the account to which the invoices were sent; null for the built-in sandbox. */
  readonly account: string | null;
}

/** The batch in `report.json`. Times are ISO 8601 in UTC. */
export interface ReportBatch
  extends Partial<ReportOrigin>, Pick<BatchRecord, 'file' | 'sha256' | 'application' | 'revision' | 'proof'> {
  readonly id: string;
  /** A batch in `staging` has no report. */
  readonly state: Exclude<BatchState, 'staging'>;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly writtenAt: string;
}

/** Every state has an entry, even with 0, so that readers need not handle missing ones. */
export interface ReportCounts extends Readonly<Record<Outcome, number>> {
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly rowsLost: number;
  readonly invoices: number;
  /** Number of issued invoices in doubt; missing if there are none. */
  readonly contradicted?: number;
}

/** Invoices in one state for one reason. */
export interface ReasonGroup {
  readonly state: Outcome;
  readonly code: string;
  readonly message: string;
  readonly invoices: number;
  readonly examples: readonly { readonly ref: string; readonly rows: readonly number[] }[];
}

/** Everything in the report before the list of invoices. It balances, because an unbalanced report is never built. */
export interface ReportModel {
  readonly batch: ReportBatch;
  readonly counts: ReportCounts;
  readonly outcomes: readonly OutcomeCount[];
  /** The same for sums over batches: an issued invoice that another batch owns counts as `already-issued`. */
  readonly ownOutcomes: readonly OutcomeCount[];
  readonly totals: readonly CurrencyTotal[];
  /** Largest group first; issued invoices are not included. */
  readonly reasons: readonly ReasonGroup[];
  /** Time from the first POST of an invoice to the final word of the service, without issued invoices that another batch owns. */
  readonly ownSettling: DurationHistogram;
  readonly fileFindings: readonly Finding[];
  readonly notes: readonly ReportNote[];
  /** Times are ISO 8601 in UTC. */
  readonly misfits: readonly (Omit<ProfileMisfit, 'firstAt' | 'lastAt'> & Record<'firstAt' | 'lastAt', string>)[];
  readonly history: ReportHistory;
  readonly contradicted: Contradicted;
  /** True if every invoice is issued, none is in doubt, and every data row belongs to an invoice. */
  readonly everythingIssued: boolean;
}

/** True if an invoice is issued and in doubt. */
export function isContradicted(
  invoice: BatchInvoice,
): invoice is BatchInvoice & { readonly contradictions: readonly Contradiction[] } {
  return invoice.contradictions !== undefined && invoice.contradictions.length > 0;
}

/** One invoice in report.json; `contradictions` is missing if it is not in doubt. */
export interface ReportInvoice extends Omit<
  BatchInvoice,
  'ordinal' | 'page' | 'issuedElsewhere' | 'sentAt' | 'settledAt'
> {
  readonly sentAt: string | null;
  readonly settledAt: string | null;
}

/** A fact that the reader of a report must know beside its invoices; each language has a sentence for each kind. */
export type ReportNote =
  /** Webhooks since the batch began that were unreadable or about invoices that this ledger does not know. */
  | { readonly kind: 'webhooks-unreadable' | 'webhooks-of-unknown-invoices'; readonly n: number }
  /** The batch needs a corrections file, but the original could not be read again. */
  | { readonly kind: 'no-corrections' }
  /** No workbook can hold the corrections, and no other format shows all of the original; or why no webhook brings answers. `cause` is in English. */
  | { readonly kind: 'corrections-unfit' | 'no-webhook'; readonly cause: string };

/** Returns alerts about webhooks since a batch began. They concern the whole ledger, so every report of that time has them. */
export function deliveryNotes({
  unreadable,
  unknownIds,
}: Pick<DeliveryTrouble, 'unreadable' | 'unknownIds'>): readonly ReportNote[] {
  return [
    ...(unreadable === 0 ? [] : [{ kind: 'webhooks-unreadable', n: unreadable } as const]),
    ...(unknownIds === 0 ? [] : [{ kind: 'webhooks-of-unknown-invoices', n: unknownIds } as const]),
  ];
}

interface ReportedAction extends Omit<AuditEntry, 'at'> {
  readonly at: string;
}

/** The changes and actions that led to this report. */
export interface ReportHistory {
  /** Null if this is the first report of the batch. */
  readonly changes: {
    readonly sinceRevision: number;
    readonly byState: SinceReport['changes'];
    /** Number of issued invoices that the previous report had in doubt; missing if there were none. */
    readonly contradictedBefore?: number;
  } | null;
  readonly audit: readonly ReportedAction[];
}

/** The history of a report without an earlier report and without actions of operators. */
export const NO_HISTORY: ReportHistory = { changes: null, audit: [] };

/** Downloads belong to the audit of the installation, not to a file that is passed on. */
const DOWNLOAD = 'download';

/** Returns the history for the report, with ISO times and without entries that a first report cannot know. */
export function reportHistory(since: SinceReport, audit: readonly AuditEntry[]): ReportHistory {
  const { revision, changes, contradicted } = since;
  const before = contradicted === 0 ? {} : { contradictedBefore: contradicted };
  return {
    changes: revision === 0 ? null : { sinceRevision: revision, byState: changes, ...before },
    audit: audit.filter(({ what }) => what !== DOWNLOAD).map(({ at, ...entry }) => ({ at: isoTime(at), ...entry })),
  };
}

/** Reasons for invoices that Lote still works on: the ledger has none, but the reader of a report expects one. */
const WORK_IN_PROGRESS: Partial<Record<Outcome, Reason>> = {
  staged: { code: 'waiting-to-be-sent', message: 'Not sent yet.' },
  sending: { code: 'being-sent', message: 'Being sent; no answer is recorded yet.' },
  accepted: {
    code: 'waiting-for-final-word',
    message: 'The service accepted it and has not said yet whether it was issued.',
  },
};

/** Returns why an invoice is in its state; null if issued. @throws LoteError `report-unbalanced` without a needed reason */
export function reasonOf(invoice: BatchInvoice): Reason | null {
  if (wentOut(invoice.state)) return null;
  if (invoice.reason !== null) return invoice.reason;
  const finding = invoice.findings.find(({ severity }) => severity === 'error');
  if (finding !== undefined) return { code: finding.code, message: finding.message };
  const inProgress = WORK_IN_PROGRESS[invoice.state];
  if (inProgress !== undefined) return inProgress;
  const message = `Building the report: every state but issued and already-issued must have a reason, found none for invoice ${invoice.ordinal} of the batch, state ${invoice.state}.`;
  throw new LoteError('report-unbalanced', message);
}
