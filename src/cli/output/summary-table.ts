import { OUTCOMES } from '../../domain/invoice-state.ts';
import type { BatchResult } from '../../domain/messages/messages.ts';
import { z } from 'zod';
import { plainText } from '../../texts/fill.ts';
import { readFileSync } from 'node:fs';
import { EXIT, batchExitCode, type ExitCode } from './exit-codes.ts';

const MOST_SHOWN = 5;

const Report = z.object({
  fileFindings: z.array(z.object({ severity: z.string(), code: z.string(), message: z.string() })),
});

/** A finding about how Lote read a file that a person must see even if the file was not refused. */
const SHOWN_OF_ANY = 'thousands-grouped';

/**
 * Returns why a file was refused and which option decides, or how its thousands were read. Reads the report, because
 * the content of a file must not travel through Temporal.
 */
function readingLines(reportJson: string, isRefused: boolean): readonly string[] {
  try {
    const { fileFindings } = Report.parse(JSON.parse(readFileSync(reportJson, 'utf8')));
    return fileFindings
      .filter(({ severity, code }) => code === SHOWN_OF_ANY || (isRefused && severity === 'error'))
      .slice(0, MOST_SHOWN)
      .map(({ message }) => `  ${plainText(message)}`);
  } catch {
    // The summary names the report's path even if the report is missing or on another machine.
    return [];
  }
}

/** Formats the summary of a finished batch: the states that occur, and where the report is. */
export function summaryTable({ batchId, state, counts, reports, ...result }: BatchResult): string {
  const lines = [`Batch ${batchId}: ${state}`, ...readingLines(reports.json, state === 'refused')];
  for (const outcome of OUTCOMES)
    if (counts[outcome]) lines.push(`  ${outcome.padEnd(16)}${String(counts[outcome]).padStart(8)}`);
  lines.push(`  ${'invoices'.padEnd(16)}${String(counts.invoices ?? 0).padStart(8)}   from ${counts.rows ?? 0} rows`);
  if (counts.rowsWithoutInvoice) lines.push(`  rows without invoice ${counts.rowsWithoutInvoice}`);
  if (counts.rowsLost)
    lines.push(`  LOST ROWS ${counts.rowsLost}: without a usable reference or tax number, in no invoice`);
  if (counts.contradicted)
    lines.push(
      `  IN DOUBT ${counts.contradicted}: went out, and may exist twice or have failed; the report names them`,
    );
  if (result.totalsDiffer !== undefined) lines.push(`  CONTROL TOTALS differ: ${result.totalsDiffer}`);
  for (const { from, to, invoices } of result.changes ?? []) lines.push(`  changed: ${invoices} from ${from} to ${to}`);
  if (result.attachedTo !== undefined) lines.push(`  another run had this file: ${result.attachedTo}`);
  lines.push(`Report       ${reports.html}`);
  if (reports.corrections !== null) lines.push(`Corrections  ${reports.corrections}`);
  return lines.join('\n');
}

/** Prints the results of a command that waited for batches. Returns the worst exit code of the batches. */
export function printResults(results: readonly BatchResult[], json: boolean): ExitCode {
  if (json) process.stdout.write(`${JSON.stringify({ batches: results.map((result) => documentOf(result)) })}\n`);
  else for (const result of results) process.stdout.write(`${summaryTable(result)}\n`);
  return results.reduce<ExitCode>((worst, result) => {
    const code = batchExitCode(result);
    return code > worst ? code : worst;
  }, EXIT.ok);
}

function documentOf(result: BatchResult) {
  const { batchId, file, state, counts, reports, attachedTo, revision, changes, retried, totalsDiffer } = result;
  return {
    ...{ id: batchId, file, state, exitCode: batchExitCode(result), counts, reports },
    ...{ totalsDiffer, attachedTo, revision, changes, retried },
  };
}
