import type { NightlyRunState, NightlyVerdict } from '../../domain/ports/run-log.ts';
import { nightSums } from './night-sums.ts';
import { waitingCount } from '../../texts/nights/waiting-files.ts';

/** Summary of one date: its nightly runs, oldest first, and their totals. */
export interface NightlySummary {
  readonly date: string;
  readonly runs: readonly NightlyRunState[];
  readonly totals: NightlyTotals;
}

export type NightlyTotals = Readonly<Record<NightlyVerdict | 'files' | 'waiting' | 'invoices' | 'notIssued', number>>;

/** Runs of one date, oldest first. A file counts as waiting only when the last run left it. */
export function nightlySummary(date: string, runs: readonly NightlyRunState[]): NightlySummary {
  const ordered = runs.toSorted((a, b) => a.startedAt - b.startedAt || a.night.localeCompare(b.night));
  const files = ordered.flatMap((run) => run.files);
  const having = (verdict: NightlyVerdict): number => files.filter((file) => file.verdict === verdict).length;
  const { invoices, issued } = nightSums(files);
  return {
    date,
    runs: ordered,
    totals: {
      files: files.length,
      issued: having('issued'),
      attention: having('attention'),
      refused: having('refused'),
      failed: having('failed'),
      waiting: waitingCount(ordered.at(-1)?.waiting ?? []),
      invoices,
      notIssued: invoices - issued,
    },
  };
}
