import { rm, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Language } from '../../texts/languages.ts';
import { LoteError } from '../../domain/errors.ts';
import {
  planCorrections,
  checkAllFound,
  type CorrectionsPlan,
  keptColumns,
  LOTE_COLUMNS,
  oneLine,
} from './corrections-plan.ts';
import type { InvoiceSpool } from '../work-folder.ts';
import type { OriginalCsv, OriginalFile, OriginalJson } from './original-file.ts';
import type { ReportModel, ReportNote } from '../report-model.ts';
import { UnfitForWorkbook } from './package-parts.ts';
import { xlsxCorrections } from './xlsx-corrections.ts';
import { writeSynced } from '../write-synced.ts';
import { READ_AS, ORIGINAL } from '../../domain/read-as.ts';
import iconv from 'iconv-lite';
import { csvRecord, originalCell } from '../../domain/text/escape-formula.ts';

interface CorrectionsRequest {
  readonly original: OriginalFile | undefined;
  readonly model: ReportModel;
  readonly spool: InvoiceSpool;
  readonly directory: string;
  readonly language: Language;
}

/** Writes the corrections file; resolves to its base name, if any, and a note for the report. If the original is gone or changed, the report is still written. */
export async function writeCorrections(
  request: CorrectionsRequest,
): Promise<{ readonly name: string | null; readonly note: ReportNote | null }> {
  const { original, model, spool, directory, language } = request;
  // Lote cannot determine the rows of a refused file, so the author must correct the whole file.
  if (model.batch.state === 'refused') return { name: null, note: null };
  const plan = await planCorrections(spool.portions(), model.fileFindings, language);
  if (plan.byRow.size === 0) return { name: null, note: null };
  if (original === undefined) return { name: null, note: { kind: 'no-corrections' } };
  const { name, pieces } = correctionsFile(original, plan);
  const path = join(directory, name);
  try {
    await writeSynced(path, pieces);
    return { name, note: null };
  } catch (error) {
    await rm(path, { force: true });
    // No workbook can hold the corrections, or no person could work with it.
    if (error instanceof UnfitForWorkbook)
      return { name: null, note: { kind: 'corrections-unfit', cause: error.message } };
    if (!isFileTrouble(error)) throw error;
    return { name: null, note: { kind: 'no-corrections' } };
  }
}

function correctionsFile(original: OriginalFile, plan: CorrectionsPlan) {
  switch (original.kind) {
    case 'sheet':
      return { name: 'corrections.xlsx', pieces: xlsxCorrections(original, plan) };
    case 'csv':
      return { name: `corrections.${extensionOf(original)}`, pieces: csvCorrections(original, plan) };
    case 'json': {
      const extension = original.format === 'ndjson' ? 'ndjson' : 'json';
      return { name: `corrections.${extension}`, pieces: jsonCorrections(original, plan) };
    }
  }
}

/** Extensions of text tables. A file named `.html` would make its cells a page of the console. */
const TEXT_TABLES: ReadonlySet<string> = new Set(['csv', 'tsv', 'tab', 'txt', 'dat', 'asc', 'prn']);

function extensionOf(original: OriginalCsv): string {
  const extension = original.extension.toLowerCase();
  return TEXT_TABLES.has(extension) ? extension : 'csv';
}

function isFileTrouble(error: unknown): boolean {
  return error instanceof LoteError && (error.code === 'file-changed' || error.code === 'file-unreadable');
}

const LOTE_MEMBERS = new Set(['lote_state', 'lote_reason', READ_AS]);

/** Writes whole invoice objects with unchanged tokens. `lote_read_as` comes first, because the head of a file chooses the profile. */
export async function* jsonCorrections(original: OriginalJson, plan: CorrectionsPlan): AsyncGenerator<string> {
  const { before, between, after } = FRAMES[original.format];
  let separator: string = before;
  const readAs = original.readAs === '' ? [] : [`"${READ_AS}":${JSON.stringify(original.readAs)}`];
  let found = 0;
  for await (const { rows, members } of original.objects) {
    const corrections = rows.flatMap((row) => plan.byRow.get(row) ?? []);
    const [correction] = corrections;
    if (correction === undefined) continue;
    found += corrections.filter(({ ofInvoice }) => ofInvoice).length;
    const kept = members.filter(([name]) => !LOTE_MEMBERS.has(name));
    const own = [
      `"lote_state":${JSON.stringify(correction.state)}`,
      `"lote_reason":${JSON.stringify(correction.reason)}`,
    ];
    yield `${separator}{${[...readAs, ...kept.map(([name, text]) => `${JSON.stringify(name)}:${text}`), ...own].join(',')}}`;
    separator = between;
  }
  if (separator === before) yield before;
  yield after;
  checkAllFound(plan, found);
}

const FRAMES = {
  array: { before: '[\n', between: ',\n', after: '\n]\n' },
  invoices: { before: '{"invoices":[\n', between: ',\n', after: '\n]}\n' },
  ndjson: { before: '', between: '\n', after: '\n' },
} as const;

/** Writes the planned records in the file's own dialect, encoding and column order, with Lote's columns at the end. */
export async function* csvCorrections(original: OriginalCsv, plan: CorrectionsPlan): AsyncGenerator<Uint8Array> {
  const { delimiter, newline, encoding, byteOrderMark } = original.dialect;
  requireEncoding(encoding);
  const encode = (cells: readonly string[]) =>
    iconv.encode(csvRecord(cells, delimiter) + newline, encoding, { addBOM: false });
  const { kept, own, width } = keptColumns(original.header);
  const cellOf = (cell: string | undefined) => (own ? originalCell(cell ?? '') : (cell ?? ''));
  if (byteOrderMark) yield iconv.encode('\uFEFF', encoding, { addBOM: false });
  const readAs = original.readAs === '' ? [] : [original.readAs];
  yield encode([
    ...kept.map((index) => cellOf(original.header[index])),
    // Some spreadsheets drop empty cells at the end of a record with their delimiter, so this column is not last.
    ORIGINAL,
    ...LOTE_COLUMNS,
    ...readAs.map(() => READ_AS),
  ]);
  let found = 0;
  for await (const { row, cells, original: before } of original.records) {
    const correction = plan.byRow.get(row);
    if (correction === undefined) continue;
    if (correction.ofInvoice) found += 1;
    // Only cells beyond the header go here, because they would look right in a column of their own.
    const beyond = cells.slice(width).map(cellOf);
    yield encode([
      ...kept.map((index) => cellOf(cells[index])),
      before,
      correction.state,
      oneLine(correction.reason),
      ...readAs,
      ...(beyond.some((cell) => cell.trim() !== '') ? beyond : []),
    ]);
  }
  checkAllFound(plan, found);
}

function requireEncoding(encoding: string): void {
  const known: boolean = iconv.encodingExists(encoding);
  if (known) return;
  const message = `Writing the corrections: the encoding must be one that iconv-lite knows, found "${encoding}".`;
  throw new LoteError('file-unreadable', message);
}

/** A new report and the folders of its files. */
export interface Replacement {
  readonly directory: string;
  readonly work: string;
  /** Base name of the new file in `work`; null if no rows need correction any more. */
  readonly name: string | null;
  readonly revision: number;
}

/** Puts the new corrections in place. An older file with other content is set aside, because a person may be correcting it. */
export async function replaceCorrections({ directory, work, name, revision }: Replacement): Promise<void> {
  const names = await readdir(directory);
  for (const old of names.filter((file) => isCorrectionsFile(file))) {
    if (old === name && (await sameBytes(join(directory, old), join(work, name)))) continue;
    const aside = freeName(names, old, revision);
    // Moves through the work folder: a writer that has lost it to a newer one cannot move the newer one's files.
    await rename(join(directory, old), join(work, aside));
    await rename(join(work, aside), join(directory, aside));
  }
  if (name !== null) await rename(join(work, name), join(directory, name));
}

/** Finds a free name, because a restored ledger gives out the same revision again. */
function freeName(names: readonly string[], old: string, revision: number): string {
  const name = (end: string): string => old.replace('.', `-replaced-by-${revision}${end}.`);
  for (let number = 1; ; number += 1) {
    const aside = name(number === 1 ? '' : `-${number}`);
    if (!names.includes(aside)) return aside;
  }
}

/** True for the name of the corrections of the present report, which have the extension of the dropped file. */
export function isCorrectionsFile(name: string): boolean {
  return /^corrections\.[a-z0-9]+$/u.test(name);
}

async function sameBytes(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([readFile(a), readFile(b)]);
  return first.equals(second);
}
