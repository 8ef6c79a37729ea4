import type { Outcome } from '../domain/invoice-state.ts';
import type { AuditEntry } from '../domain/ports/ledger/operating-ledger.ts';
import type { SinceReport } from '../domain/ports/ledger/reconciling-ledger.ts';
import { isoTime } from '../domain/time/iso-time.ts';

/** Invoices that moved, by the same way, since the report that this one replaces. */
export interface ReportedChange {
  readonly from: Outcome;
  readonly to: Outcome;
  readonly invoices: number;
  /** References of the first of them. */
  readonly examples: readonly string[];
}

/** An action of an operator, or of the retry policy. */
export interface ReportedAction {
  readonly at: string;
  /** null: not known, e.g. from the Temporal UI. */
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly acceptedDuplicateRisk: boolean;
  readonly invoices: number;
  readonly examples: readonly {
    readonly ref: string;
    readonly rows: readonly number[];
    readonly move: string;
    readonly from: string;
    readonly generation: number;
  }[];
}

/** How the report came to say what it says. */
export interface ReportHistory {
  /** null: this is the first report of the batch. */
  readonly changes: {
    readonly sinceRevision: number;
    readonly byState: readonly ReportedChange[];
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
