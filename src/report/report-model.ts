import type { DeliveryTrouble } from '../ledger/webhooks/deliveries.ts';
import type { DurationHistogram } from '../domain/time/duration-histogram.ts';
import type { CurrencyTotal } from '../domain/outcome-counts.ts';
import type { Finding, Reason } from '../domain/invoice.ts';
import { type Outcome, wentOut } from '../domain/invoice-state.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import type { BatchInvoice, BatchState, Contradicted, OutcomeCount } from '../domain/records/batch-record.ts';
import { isoTime } from '../domain/time/iso-time.ts';
import type { AuditEntry } from '../ledger/operations/audit.ts';
import type { SinceReport } from '../ledger/operations/report-marks.ts';
import { LoteError } from '../domain/errors.ts';

/** Value of `schema` in `report.json`. A change that breaks readers raises its number. */
export const REPORT_SCHEMA = 'lote.report/1';

/** A batch that is still being read has no report. */
type ReportedBatchState = Exclude<BatchState, 'staging'>;

/** From where a report is: a ledger that was restored from an older copy asks whether it concerns it. */
export interface ReportOrigin {
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
  readonly rowsLost: number;
  readonly invoices: number;
  /** Of those that went out, the ones in doubt; left out: none. */
  readonly contradicted?: number;
}

/** Invoices that are in one state for one reason. */
export interface ReasonGroup {
  readonly state: Outcome;
  readonly code: string;
  readonly message: string;
  readonly invoices: number;
  readonly examples: readonly { readonly ref: string; readonly rows: readonly number[] }[];
}

/** What was found of a service profile that does not fit. Times are ISO 8601 in UTC. */
export interface ReportMisfit extends Omit<ProfileMisfit, 'firstAt' | 'lastAt'> {
  readonly firstAt: string;
  readonly lastAt: string;
}

/** Everything that the report says before the list of invoices; it balances, or it was never built. */
export interface ReportModel {
  readonly batch: ReportBatch;
  readonly counts: ReportCounts;
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
  readonly contradicted: Contradicted;
  /** Every invoice issued, none of them in doubt, and every data row accounted for in one. */
  readonly everythingIssued: boolean;
}

/** One invoice as report.json shows it; `contradictions` is left out where it is not in doubt. */
export interface ReportInvoice extends Omit<
  BatchInvoice,
  'ordinal' | 'page' | 'issuedElsewhere' | 'sentAt' | 'settledAt'
> {
  readonly sentAt: string | null;
  readonly settledAt: string | null;
}

/** Something that the reader of a report must know beside its invoices; each language has a sentence for each. */
export type ReportNote =
  /** Webhooks since the batch began that could not be read, or told of invoices that this ledger does not know. */
  | { readonly kind: 'webhooks-unreadable' | 'webhooks-of-unknown-invoices'; readonly n: number }
  /** There should be a corrections file, and the original could not be read again. */
  | { readonly kind: 'no-corrections' }
  /** No workbook can hold them, and nothing but a workbook shows all of the original; `cause`: why, in English. */
  | { readonly kind: 'corrections-unfit'; readonly cause: string }
  | {
      readonly kind:
        | 'no-webhook-url'
        | 'no-webhook-secret'
        | 'no-address-secret'
        | 'webhook-not-by-lote'
        | 'webhook-registered-elsewhere';
    }
  /** `code`: of the service's answer, or of its loss. */
  | { readonly kind: 'registration-lost' | 'registration-refused'; readonly code: string }
  | { readonly kind: 'registered-before'; readonly n: number };

/** Alerts about webhooks since a batch began: they are the ledger's, not one batch's, so every report of that time carries them. */
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

/** How the report came to say what it says. */
export interface ReportHistory {
  /** null: this is the first report of the batch. */
  readonly changes: {
    readonly sinceRevision: number;
    readonly byState: SinceReport['changes'];
    /** Invoices that the report before had in doubt although they went out; left out: none. */
    readonly contradictedBefore?: number;
  } | null;
  readonly audit: readonly ReportedAction[];
}

/** Empty history: no earlier report to compare with, and no action of an operator. */
export const NO_HISTORY: ReportHistory = { changes: null, audit: [] };

/** Who read what belongs to the installation, not into a file that is passed on. */
const DOWNLOAD = 'download';

function changesOf({ revision, changes, contradicted }: SinceReport): ReportHistory['changes'] {
  const before = contradicted === 0 ? {} : { contradictedBefore: contradicted };
  return { sinceRevision: revision, byState: changes, ...before };
}

/** In the report's words: ISO times, and nothing that a first report cannot know. */
export function reportHistory(since: SinceReport, audit: readonly AuditEntry[]): ReportHistory {
  return {
    changes: since.revision === 0 ? null : changesOf(since),
    audit: audit.filter(({ what }) => what !== DOWNLOAD).map(({ at, ...entry }) => ({ at: isoTime(at), ...entry })),
  };
}

/** While Lote still works on an invoice, the ledger has nothing to explain; the reader of a report wants a word all the same. */
const WORK_IN_PROGRESS: Partial<Record<Outcome, Reason>> = {
  staged: { code: 'waiting-to-be-sent', message: 'Not sent yet.' },
  sending: { code: 'being-sent', message: 'Being sent; no answer is recorded yet.' },
  accepted: {
    code: 'waiting-for-final-word',
    message: 'The service accepted it and has not said yet whether it was issued.',
  },
};

/** Why an invoice is in its state; null only for one that went out. @throws LoteError `report-unbalanced` without a needed reason */
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
