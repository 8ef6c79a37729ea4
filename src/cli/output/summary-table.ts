import { OUTCOMES } from '../../domain/invoice-state.ts';
import type { BatchResult } from '../../contract/messages.ts';
import { refusalLines } from './refusal-lines.ts';

/** What a person sees when a batch is done: the states that occur, and where the report is. */
export function summaryTable(result: BatchResult): string {
  const rows = OUTCOMES.flatMap((state) => {
    const count = result.counts[state] ?? 0;
    return count === 0 ? [] : [[state, count] as const];
  });
  const lines = [
    `Batch ${result.batchId}: ${result.state}`,
    ...(result.state === 'refused' ? refusalLines(result.reports.json) : []),
    ...rows.map(([state, count]) => `  ${state.padEnd(16)}${String(count).padStart(8)}`),
    `  ${'invoices'.padEnd(16)}${String(result.counts.invoices ?? 0).padStart(8)}   from ${result.counts.rows ?? 0} rows`,
    ...(result.counts.rowsWithoutInvoice ? [`  rows without invoice ${result.counts.rowsWithoutInvoice}`] : []),
    ...(result.counts.rowsLost
      ? [`  LOST ROWS ${result.counts.rowsLost}: without a usable reference or tax number, in no invoice`]
      : []),
    ...(result.counts.contradicted
      ? [
          `  IN DOUBT ${result.counts.contradicted}: went out, and may exist twice or have failed; the report names them`,
        ]
      : []),
    ...(result.totalsDiffer === undefined ? [] : [`  CONTROL TOTALS differ: ${result.totalsDiffer}`]),
    ...(result.changes ?? []).map(({ from, to, invoices }) => `  changed: ${invoices} from ${from} to ${to}`),
    ...(result.attachedTo === undefined ? [] : [`  another run had this file: ${result.attachedTo}`]),
    `Report       ${result.reports.html}`,
    ...(result.reports.corrections === null ? [] : [`Corrections  ${result.reports.corrections}`]),
  ];
  return lines.join('\n');
}
