import type { BookDifferences } from './booked-lines.ts';

/** One case of the crash matrix and how it ended. */
export interface MatrixRow extends BookDifferences {
  /** What was done to which part: "worker killed", "receiver stopped for 70 s". */
  readonly fault: string;
  /** The named step at which it was done. */
  readonly step: string;
  readonly workers: number;
  readonly invoices: number;
  /** From the return of the part to the end of the batch, in seconds: nothing waited longer. */
  readonly longestWait: number;
  /** `held`, or the first rule that was broken. */
  readonly verdict: string;
}

export const HELD = 'held';

/** The matrix as a table of text, for whoever reads the log of `npm run test:chaos`. */
export function matrixText(rows: readonly MatrixRow[]): string {
  const head = ['fault', 'step', 'workers', 'invoices', 'lost', 'double', 'cut', 'longest wait', 'verdict'];
  const lines = rows.map((row) => [
    ...[row.fault, row.step, row.workers, row.invoices, row.lost, row.double, row.cut].map(String),
    `${row.longestWait} s`,
    row.verdict,
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0)));
  const text = [head, ...lines].map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const held = rows.filter(({ verdict }) => verdict === HELD).length;
  return [...text.map((line) => line.trimEnd()), `${held} of ${rows.length} cases held`].join('\n');
}
