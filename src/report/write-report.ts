import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { differingTotals } from '../domain/control-totals.ts';
import { LoteError } from '../domain/errors.ts';
import { makeFolder } from '../platform/folders.ts';
import { syncPath } from '../platform/files.ts';
import { htmlReport } from './html/html-report.ts';
import {
  createSpool,
  type InvoiceSpool,
  keepNewerReport,
  isSuperseded,
  makeWork,
  removeStaleWork,
  removeWork,
  supersedeOlder,
} from './work-folder.ts';
import { buildReport, type ReportFacts } from './build-report.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OriginalFile } from './corrections/original-file.ts';
import { inReportsFolder, REPORT_DIRECTORY_MODE, writeSynced } from './write-synced.ts';
import { replaceCorrections, type Replacement, writeCorrections } from './corrections/write-corrections.ts';
import {
  REPORT_SCHEMA,
  type ReportCounts,
  type ReportModel,
  type ReportInvoice,
  isContradicted,
  reasonOf,
} from './report-model.ts';
import { ENGLISH, type Speech } from '../texts/languages.ts';
import { reportFormat, englishNote, type ReportFormat } from './texts/report-format.ts';
import { countsByOutcome, currencyTotals } from '../domain/outcome-counts.ts';
import { EXCEL_CSV_START, excelCsvRecord } from '../domain/text/escape-formula.ts';
import type { BatchInvoice } from '../domain/records/batch-record.ts';
import { isoTime } from '../domain/time/instants.ts';
import type { BatchFigures } from '../ledger/operations/report-marks.ts';

/** Writes report.json: one JSON document with one invoice per line, for people and line tools. It is the same in each language. */
async function* jsonReport(
  model: ReportModel,
  invoices: AsyncIterable<readonly BatchInvoice[]>,
): AsyncGenerator<string> {
  yield `{\n  "schema": ${JSON.stringify(REPORT_SCHEMA)},\n`;
  yield member('batch', model.batch);
  yield member('counts', model.counts);
  yield member('totals', model.totals);
  yield member('reasons', model.reasons);
  yield member('notes', model.notes.map(englishNote));
  yield member('misfits', model.misfits);
  yield member('changes', model.history.changes);
  yield member('audit', model.history.audit);
  yield '  "invoices": [';
  let separator = '\n    ';
  for await (const portion of invoices) {
    let text = '';
    for (const invoice of portion) {
      text += separator + JSON.stringify(reportInvoice(invoice));
      separator = ',\n    ';
    }
    yield text;
  }
  yield separator.startsWith(',') ? '\n  ],\n' : '],\n';
  yield `  "fileFindings": ${indented(model.fileFindings)}\n}\n`;
}

function member(name: string, value: unknown): string {
  return `  ${JSON.stringify(name)}: ${indented(value)},\n`;
}

function indented(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}

const COLUMNS: readonly (readonly [name: string, cellOf: (invoice: ReportInvoice, mark: DecimalMark) => string])[] = [
  ['rows', ({ rows }) => rows.join(' ')],
  ['invoice_ref', ({ ref }) => ref],
  ['merchant_nif', ({ merchantNif }) => merchantNif],
  ['state', ({ state }) => state],
  ['reason_code', ({ reason }) => reason?.code ?? ''],
  ['reason', ({ reason }) => reason?.message ?? ''],
  ['currency', ({ currency }) => currency ?? ''],
  ['net', ({ net }, mark) => (net ?? '').replace('.', mark)],
  ['service_id', ({ serviceId }) => serviceId ?? ''],
  ['attempts', ({ attempts }) => String(attempts)],
  ['generation', ({ generation }) => String(generation)],
  ['sent_at', ({ sentAt }) => sentAt ?? ''],
  ['settled_at', ({ settledAt }) => settledAt ?? ''],
  ['flags', ({ flags }) => flags.join(' ')],
  ['idempotency_key', ({ idempotencyKey }) => idempotencyKey ?? ''],
];

type DecimalMark = '.' | ',';

/** `decimalMark` is that of the dropped file, because a person who wrote `12,50` has an Excel that reads `12,50`. */
async function* csvReport(
  invoices: AsyncIterable<readonly BatchInvoice[]>,
  decimalMark: DecimalMark,
): AsyncGenerator<string> {
  yield EXCEL_CSV_START + excelCsvRecord(COLUMNS.map(([name]) => name));
  for await (const portion of invoices) {
    const records = portion.map(reportInvoice).map((shown) => COLUMNS.map(([, cellOf]) => cellOf(shown, decimalMark)));
    yield records.map(excelCsvRecord).join('');
  }
}

/** The report files in the order in which they appear. `report.json` is last, so that a reader who waits for it finds the others. */
const REPORT_FORMATS: Readonly<Record<string, (parts: ReportParts) => AsyncIterable<string>>> = {
  'report.csv': ({ spool, decimalMark }) => csvReport(spool.portions(), decimalMark),
  'report.html': ({ model, spool, corrections, format }) =>
    htmlReport(model, () => spool.portions(), { corrections, format }),
  'report.json': ({ model, spool }) => jsonReport(model, spool.portions()),
};

/** The methods of the ledger that writing a report needs. */
export type ReportLedger = Pick<
  Ledger,
  'findBatch' | 'countOutcomes' | 'fileFindings' | 'batchInvoices' | 'nextRevision' | 'sinceReport'
>;

export interface WriteReport extends ReportFacts {
  readonly ledger: ReportLedger;
  readonly batchId: string;
  readonly reportsDir: string;
  readonly original?: OriginalFile;
  /** Decimal mark of the amounts in report.csv; the default is `.`. */
  readonly decimalMark?: DecimalMark;
  /** Language of report.html; the default is English. */
  readonly speech?: Speech;
}

export interface WrittenReport {
  readonly json: string;
  readonly csv: string;
  readonly html: string;
  readonly corrections: string | null;
  readonly summary: ReportCounts;
  readonly totalsDiffer: string | null;
  readonly figures: BatchFigures;
  readonly revision: number;
}

/** Writes `<reportsDir>/<batchId>/report.json|csv|html` and the corrections, each whole or not at all. @throws LoteError */
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
  await keepNewerReport({ directory, work }, Object.keys(REPORT_FORMATS), lastRevision);
  return ledger.nextRevision(batchId);
}

async function writeInto(request: WriteReport, places: Omit<Replacement, 'name'>): Promise<WrittenReport> {
  const { original } = request;
  const { revision } = places;
  const spool = createSpool(join(places.work, 'invoices.spool'));
  const built = await readModel(request, revision, spool);
  const format = reportFormat(request.speech ?? ENGLISH);
  const { name: corrections, note } = await writeCorrections({
    ...{ original, spool, model: built, directory: places.work, language: format.language },
  });
  const model: ReportModel = { ...built, notes: note === null ? built.notes : [...built.notes, note] };
  const parts: ReportParts = { model, spool, corrections, format, decimalMark: request.decimalMark ?? '.' };
  await writeFormats(places.work, parts);
  await requireNewest(request, revision);
  await supersedeOlder(places.directory, revision);
  await replaceCorrections({ ...places, name: corrections });
  for (const name of Object.keys(REPORT_FORMATS)) await rename(join(places.work, name), join(places.directory, name));
  await syncPath(places.directory);
  const pathOf = (name: string) => join(places.directory, name);
  return {
    json: pathOf('report.json'),
    csv: pathOf('report.csv'),
    html: pathOf('report.html'),
    corrections: corrections === null ? null : pathOf(corrections),
    summary: model.counts,
    totalsDiffer: differingTotals(model.fileFindings),
    figures: batchFigures(model),
    revision,
  };
}

async function readModel(request: WriteReport, revision: number, spool: InvoiceSpool): Promise<ReportModel> {
  const { ledger, batchId } = request;
  const batch = await ledger.findBatch(batchId);
  if (batch === null) {
    const message = `Writing the report of batch ${batchId}: the ledger must know the batch, found none. "lote status" lists the batches it knows.`;
    throw new LoteError('batch-not-found', message);
  }
  return buildReport({
    ...request,
    ...{ batch, revision },
    counts: () => ledger.countOutcomes(batchId),
    invoices: spool.fill(ledger.batchInvoices(batchId)),
    findings: await ledger.fileFindings(batchId),
  });
}

/** Writes concurrently, so that the disk syncs one file while the next is made. Waits for all: a failure removes the folder. */
async function writeFormats(work: string, parts: ReportParts): Promise<void> {
  const writings = Object.entries(REPORT_FORMATS).map(([name, write]) => writeSynced(join(work, name), write(parts)));
  for (const writing of await Promise.allSettled(writings)) if (writing.status === 'rejected') throw writing.reason;
}

/** Spares a writer that was stopped for a while useless work. Only `supersedeOlder` keeps such a writer from replacing a newer report. */
async function requireNewest(request: WriteReport, revision: number): Promise<void> {
  // Reports that were only begun do not count, or two writers of a large batch would wait for each other for ever.
  const { revision: newest } = await request.ledger.sinceReport(request.batchId);
  if (newest > revision) throw superseded(request, revision, `report ${newest}`);
}

function superseded({ batchId }: WriteReport, revision: number, newer: string): LoteError {
  const message = `Putting report ${revision} of batch ${batchId} in place: it must be the newest, but ${newer}, begun after it, is written or about to be`;
  return new LoteError('report-superseded', message);
}

interface ReportParts {
  readonly model: ReportModel;
  readonly spool: InvoiceSpool;
  readonly corrections: string | null;
  readonly format: ReportFormat;
  readonly decimalMark: DecimalMark;
}

/** Batch ids consist of letters, digits, `-`, `_` and `.`; any other text could name a place outside the reports. */
function reportDirectory({ reportsDir, batchId }: WriteReport): string {
  if (basename(batchId) === batchId && /^[\w-][\w.-]*$/u.test(batchId)) return join(reportsDir, batchId);
  const message =
    'Writing a report: the batch id must be a plain name of letters, digits, "-", "_" and ".", found other characters.';
  throw new LoteError('batch-not-found', message);
}

const MOST_REASONS = 10;
/** Codes come from the service, and the figures are kept for years. */
const LONGEST_CODE = 80;

/** Returns the figures for sums over nights. Invoices of another batch count as issued before; `outcomes` is this batch's balance. */
export function batchFigures(report: ReportModel): BatchFigures {
  const { contradicted, outcomes, ownOutcomes, reasons, ownSettling } = report;
  return {
    states: countsByOutcome(ownOutcomes),
    money: currencyTotals(ownOutcomes).map(({ currency, net, byState }) => ({
      ...{ currency, net },
      ...{ out: byState.issued ?? '0', before: byState['already-issued'] ?? '0' },
    })),
    settling: ownSettling,
    ...(contradicted.invoices > 0 && { contradicted: contradicted.invoices }),
    reasons: reasons
      .slice(0, MOST_REASONS)
      .map(({ state, code, invoices }) => ({ state, code: code.slice(0, LONGEST_CODE), invoices })),
    outcomes,
  };
}

function reportInvoice(invoice: BatchInvoice): ReportInvoice {
  return {
    ref: invoice.ref,
    merchantNif: invoice.merchantNif,
    rows: invoice.rows,
    state: invoice.state,
    currency: invoice.currency,
    net: invoice.net,
    serviceId: invoice.serviceId,
    idempotencyKey: invoice.idempotencyKey,
    generation: invoice.generation,
    attempts: invoice.attempts,
    reason: reasonOf(invoice),
    sentAt: isoTime(invoice.sentAt),
    settledAt: isoTime(invoice.settledAt),
    findings: invoice.findings,
    flags: invoice.flags,
    ...(isContradicted(invoice) && { contradictions: invoice.contradictions }),
  };
}
