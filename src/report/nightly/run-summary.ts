import type { WaitingFile } from '../../domain/ports/drop-folder.ts';
import type { NightEntry, NightVerdict } from '../../domain/ports/run-log.ts';

/** One run of the nightly issuance, as its files under `runs/` tell. */
export interface NightRun {
  readonly night: string;
  readonly workflowId: string;
  readonly startedAt: number;
  /** null: it runs still, or was interrupted; the next night goes on with what it left. */
  readonly finishedAt: number | null;
  readonly files: readonly NightEntry[];
  readonly waiting: readonly WaitingFile[];
}

export interface NightSummary {
  readonly date: string;
  readonly runs: readonly NightRun[];
  readonly totals: NightTotals;
}

export type NightTotals = Readonly<Record<NightVerdict | 'files' | 'waiting' | 'invoices' | 'notIssued', number>>;

/** Runs of one date, oldest first. A file counts as waiting only when the last run left it. */
export function nightSummary(date: string, runs: readonly NightRun[]): NightSummary {
  const ordered = runs.toSorted((a, b) => a.startedAt - b.startedAt || a.night.localeCompare(b.night));
  const files = ordered.flatMap((run) => run.files);
  const having = (verdict: NightVerdict): number => files.filter((file) => file.verdict === verdict).length;
  const invoices = sumOf(files, (file) => file.invoices);
  return {
    date,
    runs: ordered,
    totals: {
      files: files.length,
      issued: having('issued'),
      attention: having('attention'),
      refused: having('refused'),
      failed: having('failed'),
      waiting: ordered.at(-1)?.waiting.length ?? 0,
      invoices,
      notIssued: invoices - sumOf(files, (file) => file.issued),
    },
  };
}

function sumOf(files: readonly NightEntry[], valueOf: (file: NightEntry) => number): number {
  return files.reduce((sum, file) => sum + valueOf(file), 0);
}
