import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { differingTotals } from '../domain/control-totals.ts';
import { LoteError } from '../domain/errors.ts';
import { makeFolder } from '../file-system/make-folder.ts';
import { syncPath } from '../file-system/sync-path.ts';
import type { BatchFigures } from '../domain/ports/figures.ts';
import { batchFigures } from './batch-figures.ts';
import { csvReport, type DecimalMark } from './formats/csv-report.ts';
import { htmlReport } from './formats/html/html-report.ts';
import type { InvoiceSpool } from './invoice-spool.ts';
import { jsonReport } from './formats/json-report.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import type { OriginalFile } from './corrections/original-file.ts';
import { keepNewerReport } from './keep-newer-report.ts';
import { readReport, type ReportLedger } from './formats/read-report.ts';
import { inReportsFolder } from './reports-folder.ts';
import { replaceCorrections } from './corrections/replace-corrections.ts';
import type { ReportHistory } from './report-history.ts';
import type { ReportCounts, ReportModel, ReportOrigin } from './report-model.ts';
import type { ReportNote } from './report-note.ts';
import { ENGLISH, type Speech } from '../texts/choose-language.ts';
import { reportFormat, type ReportFormat } from './texts/report-format.ts';
import { writeCorrections, type WrittenCorrections } from './corrections/write-corrections.ts';
import { isSuperseded, makeWork, removeStaleWork, removeWork, supersedeOlder } from './work-folder.ts';
import { REPORT_DIRECTORY_MODE, writeSynced } from './write-synced.ts';

/**
 * The report files, in the order in which they appear: `report.json` is the last, so that who waits for it finds the others. A new format is a writer in
 * `formats` and a line here; the console serves it by its media type (`src/console/http/report-downloads.ts`).
 */
const REPORT_FORMATS: Readonly<Record<string, (parts: ReportParts) => AsyncIterable<string>>> = {
  'report.csv': ({ spool, decimalMark }) => csvReport(spool.portions(), { decimalMark }),
  'report.html': ({ model, spool, corrections, format }) =>
    htmlReport(model, () => spool.portions(), { corrections: corrections.name, format }),
  'report.json': ({ model, spool }) => jsonReport(model, spool.portions()),
};

export interface WriteReport {
  readonly ledger: ReportLedger;
  readonly batchId: string;
  readonly reportsDir: string;
  /** The dropped file; without it there is no corrections file. */
  readonly original?: OriginalFile;
  /** Mark of the amounts in report.csv; left out: `.`. */
  readonly decimalMark?: DecimalMark;
  /** For the reader, e.g. that webhooks are not registered. */
  readonly notes?: readonly ReportNote[];
  /** Of report.html; left out: English. */
  readonly speech?: Speech;
  /** What was found of a service profile that does not fit since the batch began. */
  readonly misfits?: readonly ProfileMisfit[];
  /** What changed since the report before, and what was done by hand. */
  readonly history?: ReportHistory;
  /** Left out: the report does not say it. */
  readonly origin?: ReportOrigin;
  readonly now: number;
}

export interface WrittenReport {
  readonly json: string;
  readonly csv: string;
  readonly html: string;
  readonly corrections: string | null;
  readonly summary: ReportCounts;
  /** How the file differs from the control totals that were declared for it; null: it does not, or was let go. */
  readonly totalsDiffer: string | null;
  readonly figures: BatchFigures;
  readonly revision: number;
}

/**
 * Writes `<reportsDir>/<batchId>/report.json|csv|html` and the corrections; each appears whole or not at all, and
 * report.json comes last, so that who waits for it finds the others.
 * @throws LoteError `batch-not-found`, `report-unbalanced`, `report-superseded`, `ledger-unavailable`, `folder-unusable`
 */
export function writeReport(request: WriteReport): Promise<WrittenReport> {
  return inReportsFolder(request.reportsDir, () => writeFiles(request));
}

async function writeFiles(request: WriteReport): Promise<WrittenReport> {
  const directory = reportDirectory(request);
  for (const folder of [request.reportsDir, directory]) await makeFolder(folder, REPORT_DIRECTORY_MODE);
  await removeStaleWork(directory, request.now);
  const { path: work, revision } = await makeWork(directory, (made) => nextRevision(request, directory, made));
  try {
    return await writeInto(request, { directory, work, revision });
  } catch (error) {
    if (await isSuperseded(directory, work)) throw superseded(request, revision, 'a newer one');
    throw error;
  } finally {
    await removeWork(directory, work);
  }
}

async function nextRevision({ ledger, batchId }: WriteReport, directory: string, work: string): Promise<number> {
  const lastRevision = async () => (await ledger.findBatch(batchId))?.revision ?? 0;
  await keepNewerReport({ directory, work, lastRevision }, Object.keys(REPORT_FORMATS));
  return ledger.nextRevision(batchId);
}

interface Places {
  readonly directory: string;
  readonly work: string;
  readonly revision: number;
}

async function writeInto(request: WriteReport, places: Places): Promise<WrittenReport> {
  const { original } = request;
  const { revision } = places;
  const { model: built, spool } = await readReport({ ...request, revision }, join(places.work, 'invoices.spool'));
  const corrections = await writeCorrections({
    ...{ original, spool, model: built, directory: places.work },
    language: (request.speech ?? ENGLISH).language,
  });
  const notes = corrections.note === null ? built.notes : [...built.notes, corrections.note];
  const model: ReportModel = { ...built, notes };
  const format = reportFormat(request.speech ?? ENGLISH);
  const parts: ReportParts = { model, spool, corrections, format, decimalMark: request.decimalMark ?? '.' };
  await writeFormats(places.work, parts);
  await requireNewest(request, revision);
  await supersedeOlder(places.directory, revision);
  await replaceCorrections({ ...places, name: corrections.name });
  for (const name of Object.keys(REPORT_FORMATS)) await rename(join(places.work, name), join(places.directory, name));
  await syncPath(places.directory);
  const pathOf = (name: string) => join(places.directory, name);
  return {
    json: pathOf('report.json'),
    csv: pathOf('report.csv'),
    html: pathOf('report.html'),
    corrections: corrections.name === null ? null : pathOf(corrections.name),
    summary: model.counts,
    totalsDiffer: differingTotals(model.fileFindings),
    figures: batchFigures(model),
    revision,
  };
}

/** Side by side, so that the disk syncs one file while the next is made. Ends when all have ended: the folder is removed after a failure. */
async function writeFormats(work: string, parts: ReportParts): Promise<void> {
  const writings = Object.entries(REPORT_FORMATS).map(([name, write]) => writeSynced(join(work, name), write(parts)));
  for (const writing of await Promise.allSettled(writings)) if (writing.status === 'rejected') throw writing.reason;
}

/**
 * A writer that was stopped for a while must not put what it read then over what another one has read since. This look spares it the work; that its
 * work folder is taken from it (`supersedeOlder`) is what stops it for sure.
 */
async function requireNewest(request: WriteReport, revision: number): Promise<void> {
  // One that was only begun has put nothing in place: if each waited for the other, two writers of a large batch would never end.
  const { revision: newest } = await request.ledger.sinceReport(request.batchId);
  if (newest > revision) throw superseded(request, revision, `report ${newest}`);
}

function superseded({ batchId }: WriteReport, revision: number, newer: string): LoteError {
  return new LoteError(
    'report-superseded',
    `Putting report ${revision} of batch ${batchId} in place: it must be the newest, but ${newer}, begun after it, is written or about to be`,
  );
}

interface ReportParts {
  readonly model: ReportModel;
  readonly spool: InvoiceSpool;
  readonly corrections: WrittenCorrections;
  readonly format: ReportFormat;
  readonly decimalMark: DecimalMark;
}

/** Batch ids are made of letters, digits and `-`, `_`, `.`; anything else could name a place outside the reports. */
function reportDirectory({ reportsDir, batchId }: WriteReport): string {
  if (basename(batchId) === batchId && /^[\w-][\w.-]*$/u.test(batchId)) return join(reportsDir, batchId);
  throw new LoteError(
    'batch-not-found',
    'Writing a report: the batch id must be a plain name of letters, digits, "-", "_" and ".", found other characters.',
  );
}
