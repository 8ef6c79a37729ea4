import type { NightlyRunEntry } from '../../domain/ports/run-log.ts';

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
