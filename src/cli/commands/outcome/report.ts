import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../../domain/errors.ts';
import { readInstallation } from '../../../runtime/config/installation.ts';
import { withBatchReader, type BatchReader, type ReadBatch } from '../../../wiring/reports/batch-reader.ts';
import type { BatchResult } from '../../../contract/messages.ts';
import { settledCount } from '../../../domain/outcome-counts.ts';
import { batchExitCode } from '../../output/batch-exit-code.ts';
import { batchNotFound } from '../../session/batch-not-found.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { progressLine, type ProgressLine } from '../../output/progress-line.ts';
import { summaryTable } from '../../output/summary-table.ts';

const POLL_INTERVAL_MS = 500;
const BATCHES_NAMED = 50;
/** A ledger that fails over, or an owner that is busy, answers again within this. */
const AWAY_PATIENCE_MS = 60_000;
const CLOSED: ReadonlySet<string> = new Set(['refused', 'cancelled', 'finished']);

export interface ReportCommand {
  readonly batchId: string;
  /** Wait until the batch has ended. */
  readonly follow: boolean;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * `lote report BATCH`: the outcome in short and where its files are. Exit codes as those of `run`; 1 for a batch that
 * goes on.
 */
export async function reportCommand({ batchId, follow, json, env }: ReportCommand): Promise<ExitCode> {
  const installation = readInstallation(env);
  const { several } = installation;
  const { batch, reports } = await withBatchReader(installation, async (reader) => {
    const found = follow ? await untilClosed(reader, batchId) : await requireBatch(reader, batchId);
    const folder = several ? join(reader.reportsDir, found.application ?? '') : reader.reportsDir;
    return { batch: found, reports: await reportPaths(folder, batchId) };
  });
  process.stdout.write(json ? `${JSON.stringify(documentOf(batch, reports))}\n` : textOf(batch, reports));
  return isClosed(batch) ? batchExitCode(summaryOf(batch)) : EXIT.someNotIssued;
}

async function requireBatch(reader: BatchReader, batchId: string): Promise<ReadBatch> {
  const batch = await reader.find(batchId);
  if (batch === null) throw batchNotFound(batchId, await reader.list(BATCHES_NAMED));
  return batch;
}

/** With a line of progress: whoever follows wants to see that something moves. */
async function untilClosed(reader: BatchReader, batchId: string): Promise<ReadBatch> {
  const progress = progressLine();
  try {
    return await look(reader, batchId, progress);
  } finally {
    progress.end();
  }
}

async function look(reader: BatchReader, batchId: string, progress: ProgressLine): Promise<ReadBatch> {
  let answeredAt = performance.now();
  for (;;) {
    const batch = await requireBatch(reader, batchId).catch((error: unknown) => {
      if (!isAway(error) || performance.now() - answeredAt > AWAY_PATIENCE_MS) throw error;
      return null;
    });
    if (batch === null) {
      progress.say(`${batchId}: waits for the ledger, which does not answer`);
      await sleep(POLL_INTERVAL_MS);
      continue;
    }
    answeredAt = performance.now();
    // Closed comes first, the report a moment later.
    if (isClosed(batch) && batch.revision > 0) return batch;
    if (!reader.live) {
      throw new LoteError(
        'worker-missing',
        `Following batch ${batchId}: a process must be working on it, but none has the data directory. Run its file again, or \`lote up\`.`,
      );
    }
    const { state, invoices, counts } = batch;
    progress.show(
      batchId,
      { phase: state, invoices, paused: state === 'paused', waitingFor: null },
      settledCount(counts),
    );
    await sleep(POLL_INTERVAL_MS);
  }
}

function isAway(error: unknown): boolean {
  return error instanceof LoteError && error.code === 'ledger-unavailable';
}

type ClosedBatch = ReadBatch & { readonly state: BatchResult['state'] };

function isClosed(batch: ReadBatch): batch is ClosedBatch {
  return CLOSED.has(batch.state);
}

interface FoundReports {
  readonly json: string | null;
  readonly csv: string | null;
  readonly html: string | null;
  readonly corrections: string | null;
}

async function reportPaths(reportsDir: string, batchId: string): Promise<FoundReports> {
  const directory = join(reportsDir, batchId);
  const names = await readdir(directory).catch((): string[] => []);
  const path = (name: string | undefined): string | null => (name === undefined ? null : join(directory, name));
  const exact = (name: string): string | null => path(names.find((found) => found === name));
  return {
    json: exact('report.json'),
    csv: exact('report.csv'),
    html: exact('report.html'),
    corrections: path(names.find((name) => name.startsWith('corrections.'))),
  };
}

function summaryOf<B extends ReadBatch>(
  batch: B,
): Pick<B, 'state'> & Pick<BatchResult, 'batchId' | 'counts' | 'totalsDiffer'> {
  const { batchId, state, rows, invoices, rowsWithoutInvoice, rowsLost, contradicted = 0, totalsDiffer = null } = batch;
  const counts = {
    ...batch.counts,
    rows,
    invoices,
    rowsWithoutInvoice,
    ...(rowsLost === undefined ? {} : { rowsLost }),
    ...(contradicted === 0 ? {} : { contradicted }),
  };
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
