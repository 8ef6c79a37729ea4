import type { NightlyRunEntry, NightlyRunState, NightlyVerdict } from '../domain/records/night.ts';
import { waitingCount } from '../texts/nights/night-verdict.ts';

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

/** Numbers of invoices of a night: all, those of which a document exists, and of these what was no document of the night. */
export type NightSums = Readonly<Record<'invoices' | 'issued' | 'alreadyIssued', number>>;

type Counted = Pick<NightlyRunEntry, 'batchId' | 'invoices' | 'issued' | 'alreadyIssued'>;

/** Each batch counts once: the same bytes under two names, or in two runs of one date, are one batch. */
export function nightSums(files: readonly Counted[]): NightSums {
  const counted = [...files.filter(({ batchId }) => batchId === null), ...onePerBatch(files)];
  return {
    invoices: sumOf(counted, ({ invoices }) => invoices),
    issued: sumOf(counted, ({ issued }) => issued),
    alreadyIssued: sumOf(counted, ({ alreadyIssued = 0 }) => alreadyIssued),
  };
}

/** Of each batch what it had come to; a file that was dropped again says less of what this night has issued. */
function onePerBatch(files: readonly Counted[]): readonly Counted[] {
  const furthest = new Map<string, Counted>();
  for (const file of files) {
    if (file.batchId === null) continue;
    const other = furthest.get(file.batchId);
    if (other === undefined || isFurther(file, other)) furthest.set(file.batchId, file);
  }
  return [...furthest.values()];
}

function isFurther(file: Counted, other: Counted): boolean {
  if (file.issued !== other.issued) return file.issued > other.issued;
  return (file.alreadyIssued ?? 0) < (other.alreadyIssued ?? 0);
}

function sumOf(files: readonly Counted[], valueOf: (file: Counted) => number): number {
  return files.reduce((sum, file) => sum + valueOf(file), 0);
}
