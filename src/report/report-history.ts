import { isoTime } from '../domain/time/iso-time.ts';
import type { AuditEntry } from '../ledger/operations/audit.ts';
import type { SinceReport } from '../ledger/operations/report-marks.ts';

/** An action of an operator, or of the retry policy. */
export interface ReportedAction extends Omit<AuditEntry, 'at'> {
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
