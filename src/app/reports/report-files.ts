import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportSummary, ReportWriter } from '../../../activities/deps.ts';
import { differingTotals } from '../../domain/control-totals.ts';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import { isoTime } from '../../domain/time/instants.ts';
import { misfitsOf } from '../../domain/calibration-state.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import { isCorrectionsFile } from '../../report/corrections/write-corrections.ts';
import { deliveryNotes, type ReportNote, reportHistory } from '../../report/report-model.ts';
import { writeReport } from '../../report/write-report.ts';
import { ENGLISH, type Speech } from '../../texts/languages.ts';
import type { Counts } from '../../domain/messages/messages.ts';
import { originalOf } from '../files/original-of.ts';
import { decimalMarkOf } from '../files/file-proof.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import type { ReportedOutcome } from '../../ledger/operations/report-marks.ts';

/** An invoice never leaves one of these outcomes. */
const FINAL: ReadonlySet<Outcome> = new Set(['issued', 'already-issued', 'invalid', 'conflict']);

/** Wraps the ledger so that `open` receives the reported outcomes of invoices that may still change. */
function notingOpen(ledger: Ledger, open: ReportedOutcome[]): Ledger {
  async function* batchInvoices(batchId: string): ReturnType<Ledger['batchInvoices']> {
    // If a reading does not balance, the report reads again from the start.
    open.length = 0;
    for await (const portion of ledger.batchInvoices(batchId)) {
      for (const { ordinal, state, generation } of portion) {
        if (!FINAL.has(state)) open.push({ ordinal, state, generation });
      }
      yield portion;
    }
  }
  return { ...ledger, batchInvoices };
}

/** Dependencies of the report writer. */
interface ReportWriterOptions {
  readonly ledger: Ledger;
  readonly reportsDir: string;
  readonly dataDir: string;
  /** Notes for every report, e.g. that no receiver listens for webhooks. */
  readonly notes: () => readonly ReportNote[];
  /** Language of report.html; default: English. */
  readonly speech?: Speech;
  /** Digest of the service profile (`profileDigestOf`). */
  readonly profileDigest: string;
  /** The account's name in the send log. Null or omitted for the built-in sandbox. */
  readonly account?: string | null;
  readonly now: () => number;
}

/** Writes reports to `<reports>/<batch id>/`, with corrections in the words of the dropped file. */
export function createReportWriter(options: ReportWriterOptions): ReportWriter {
  return {
    write: (batchId) => write(options, batchId),
    reuse: (batchId) => reuse(options, batchId),
  };
}

/** @throws LoteError `report-superseded` when another writer has placed a newer report meanwhile; a repeat answers the newest */
async function write(options: ReportWriterOptions, batchId: string): Promise<ReportSummary> {
  const { ledger, dataDir, reportsDir, speech = ENGLISH } = options;
  const batch = await requireBatch(ledger, batchId);
  const kept = await reportOfPurged(options, batch);
  if (kept !== null) return kept;
  const original = await originalOf(batch, dataDir);
  const since = await ledger.sinceReport(batchId);
  const history = reportHistory(since, await ledger.auditOf(batchId));
  const misfits = misfitsOf(await ledger.calibration(options.profileDigest));
  const open: ReportedOutcome[] = [];
  const now = options.now();
  const { revision, figures, ...written } = await writeReport({
    ledger: notingOpen(ledger, open),
    batchId,
    reportsDir,
    notes: [...options.notes(), ...deliveryNotes(await ledger.deliveryTrouble(batch.startedAt))],
    misfits: misfits.filter((misfit) => concerns(batch, misfit)),
    history,
    origin: { ledger: ledger.id, account: options.account ?? null },
    now,
    decimalMark: decimalMarkOf(batch.proof, speech),
    ...(original === null ? {} : { original }),
    speech,
  });
  // `finishedAt` may come from a clock that is ahead of this one, but the report is later all the same.
  const writtenAt = Math.max(now, batch.finishedAt ?? 0);
  const isNewest = await ledger.noteReported(batchId, { revision, writtenAt, mark: since.mark, open, figures });
  if (!isNewest)
    throw new LoteError(
      'report-superseded',
      `Noting report ${revision} of batch ${batchId}: it must be the newest, but a newer one was written meanwhile.`,
    );
  const { json, csv, html, corrections, summary: counts, totalsDiffer } = written;
  // Without references, because this value enters Temporal's history.
  const changes = history.changes?.byState.map(({ from, to, invoices }) => ({ from, to, invoices }));
  const reports = { json, csv, html, corrections };
  return { ...summaryOf(batch, totalsDiffer), counts, revision, ...givenOnly({ changes }), reports };
}

function summaryOf(batch: BatchRecord, totalsDiffer: string | null) {
  const { batchId, file, state } = batch;
  const closed = state === 'refused' || state === 'cancelled' ? state : ('finished' as const);
  return { batchId, file, state: closed, ...givenOnly({ totalsDiffer: totalsDiffer ?? undefined }) };
}

/** Lote records a finding at most once a minute. */
const NOTED_WITHIN_MS = 2 * 60_000;

function concerns({ startedAt, finishedAt }: BatchRecord, { firstAt, lastAt }: ProfileMisfit): boolean {
  const isOver = finishedAt !== null && firstAt > finishedAt + NOTED_WITHIN_MS;
  return !isOver && lastAt >= startedAt - NOTED_WITHIN_MS;
}

/** Returns null if a late answer, a contradiction, or a later file that took invoices over has made the report untrue. */
async function reuse(options: ReportWriterOptions, batchId: string): Promise<ReportSummary | null> {
  const { changes, isFlagged } = await options.ledger.sinceReport(batchId);
  return isFlagged || changes.length > 0 ? null : readExisting(options, batchId);
}

/** Returns null if the report is missing, or if the batch has ended again since, as after a refused file. */
async function readExisting(options: ReportWriterOptions, batchId: string): Promise<ReportSummary | null> {
  const batch = await requireBatch(options.ledger, batchId);
  const directory = join(options.reportsDir, batchId);
  const json = join(directory, 'report.json');
  const said = await readSaid(json);
  if (said === null) return null;
  // An operator may have restored the folder from an older copy.
  const { revision } = await options.ledger.sinceReport(batchId);
  if (said.batch.revision < revision) return null;
  if (said.batch.finishedAt !== isoTime(batch.finishedAt)) return null;
  const corrections = (await readdir(directory)).find((file) => isCorrectionsFile(file)) ?? null;
  const totalsDiffer = differingTotals(await options.ledger.fileFindings(batchId));
  return {
    ...summaryOf(batch, totalsDiffer),
    counts: said.counts,
    reports: {
      json,
      csv: join(directory, 'report.csv'),
      html: join(directory, 'report.html'),
      corrections: corrections === null ? null : join(directory, corrections),
    },
  };
}

interface Said {
  readonly counts: Counts;
  readonly batch: { readonly finishedAt: string | null; readonly revision: number };
}

/** Returns null if the report is missing or damaged; Lote then writes it again. */
async function readSaid(json: string): Promise<Said | null> {
  try {
    const said = JSON.parse(await readFile(json, 'utf8')) as Partial<Said> | null;
    return said?.counts === undefined || said.batch === undefined ? null : { counts: said.counts, batch: said.batch };
  } catch {
    return null;
  }
}

/** Keeps the report of a purged batch, whose content is gone, unless the batch has changed since. */
async function reportOfPurged(
  options: ReportWriterOptions,
  { batchId, application, finishedAt }: BatchRecord,
): Promise<ReportSummary | null> {
  const { ledger } = options;
  const purgedAt = await ledger.purgedAt(batchId);
  if (purgedAt === null || (finishedAt ?? 0) > purgedAt) return null;
  // A report without findings is better than none, or than one that calls issued invoices failed.
  const unreported = await ledger.unreportedBatches(application);
  if (unreported.some((run) => run.batchId === batchId)) return null;
  return (await ledger.outdatedReports(application)).includes(batchId) ? null : readExisting(options, batchId);
}

async function requireBatch(ledger: Ledger, batchId: string): Promise<BatchRecord> {
  const batch = await ledger.findBatch(batchId);
  if (batch !== null) return batch;
  throw new LoteError(
    'batch-not-found',
    `The ledger knows no batch ${batchId}. \`lote status\` lists the batches it knows.`,
  );
}
