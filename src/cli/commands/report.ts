import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLedgerAway, LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../app/config/config.ts';
import type { ReadBatch } from '../../console/operations.ts';
import type { BatchResult } from '../../domain/messages/messages.ts';
import { settledCount } from '../../domain/outcome-counts.ts';
import { requireBatch, withSession, type Session } from '../session/open-session.ts';
import { EXIT, batchExitCode, type ExitCode } from '../output/exit-codes.ts';
import { progressLine, type ProgressLine } from '../output/progress-line.ts';
import { printResult } from '../output/terminal-text.ts';
import { summaryTable } from '../output/summary-table.ts';

const POLL_INTERVAL_MS = 500;
/** A ledger that fails over, or an owner that is busy, answers again within this time. */
const AWAY_PATIENCE_MS = 60_000;
const CLOSED: ReadonlySet<string> = new Set(['refused', 'cancelled', 'finished']);

interface ReportCommand {
  readonly batch: string;
  readonly follow: boolean;
  readonly json: boolean;
}

/** `lote report BATCH`: prints the outcome in short and the paths of its files. The exit codes are those of `run`, and 1 while the batch goes on. */
export async function reportCommand(
  env: NodeJS.ProcessEnv,
  { batch: batchId, follow, json }: ReportCommand,
): Promise<ExitCode> {
  const { batch, reports } = await withSession(readConfig(env), async (session) => {
    const found = follow ? await untilClosed(session, batchId) : await requireBatch(session.operations, batchId);
    return { batch: found, reports: await reportPaths(session.config.reportsDir, batchId) };
  });
  printResult(json, documentOf(batch, reports), () => textOf(batch, reports));
  return isClosed(batch) ? batchExitCode(summaryOf(batch)) : EXIT.someNotIssued;
}

/** Waits until the batch is closed, with a progress line that shows a person that the work goes on. */
async function untilClosed({ operations, place }: Session, batchId: string): Promise<ReadBatch> {
  const progress = progressLine();
  let answeredAt = performance.now();
  try {
    for (;;) {
      const batch = await requireBatch(operations, batchId).catch((error: unknown) => {
        if (!isLedgerAway(error) || performance.now() - answeredAt > AWAY_PATIENCE_MS) throw error;
        return null;
      });
      if (batch !== null) answeredAt = performance.now();
      // The batch closes first; its report follows a moment later.
      if (batch !== null && isClosed(batch) && batch.revision > 0) return batch;
      if (batch !== null && place === 'own') throw unattended(batchId);
      if (batch === null) progress.say(`${batchId}: waits for the ledger, which does not answer`);
      else showIn(progress, batch);
      await sleep(POLL_INTERVAL_MS);
    }
  } finally {
    progress.end();
  }
}

function unattended(batchId: string): LoteError {
  return new LoteError(
    'worker-missing',
    `Following batch ${batchId}: a process must be working on it, but none has the data directory. Run its file again, or \`lote up\`.`,
  );
}

function showIn(progress: ProgressLine, { batchId, state, invoices, counts }: ReadBatch): void {
  const shown = { phase: state, invoices, paused: state === 'paused', waitingFor: null };
  progress.show(batchId, shown, settledCount(counts));
}

type ClosedBatch = ReadBatch & { readonly state: BatchResult['state'] };

function isClosed(batch: ReadBatch): batch is ClosedBatch {
  return CLOSED.has(batch.state);
}

async function reportPaths(reportsDir: string, batchId: string) {
  const directory = join(reportsDir, batchId);
  const names = await readdir(directory).catch((): string[] => []);
  const found = (start: string): string | null => {
    const name = names.find((one) => one.startsWith(start));
    return name === undefined ? null : join(directory, name);
  };
  return {
    ...{ json: found('report.json'), csv: found('report.csv'), html: found('report.html') },
    corrections: found('corrections.'),
  };
}

type FoundReports = Awaited<ReturnType<typeof reportPaths>>;

function summaryOf<B extends ReadBatch>(
  batch: B,
): Pick<B, 'state'> & Pick<BatchResult, 'batchId' | 'counts' | 'totalsDiffer'> {
  const { batchId, state, rows, invoices, rowsWithoutInvoice, rowsLost, contradicted, totalsDiffer } = batch;
  const doubt = contradicted === 0 ? {} : { contradicted };
  const counts = { ...batch.counts, rows, invoices, rowsWithoutInvoice, rowsLost, ...doubt };
  return { batchId, state, counts, ...(totalsDiffer === null ? {} : { totalsDiffer }) };
}

function documentOf(batch: ReadBatch, reports: FoundReports) {
  const { batchId: id, ...summary } = summaryOf(batch);
  return { batch: { id, file: batch.file, ...summary, reports } };
}

function textOf(batch: ReadBatch, { json, html, corrections, csv }: FoundReports): string {
  if (!isClosed(batch) || json === null || csv === null || html === null) {
    return `Batch ${batch.batchId}: ${batch.state}, ${settledCount(batch.counts)} of ${batch.invoices} invoices at rest. No report yet; --follow waits for it.\n`;
  }
  const reports = { json, csv, html, corrections };
  return `${summaryTable({ ...summaryOf(batch), file: batch.file, reports, pagesFailed: 0 })}\n`;
}
