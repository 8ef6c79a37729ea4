import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Language } from '../../texts/languages.ts';
import { LoteError } from '../../domain/errors.ts';
import { type CorrectionsPlan, lacksLostRows, planCorrections } from './corrections-plan.ts';
import { csvCorrections } from './csv-corrections.ts';
import type { InvoiceSpool } from '../invoice-spool.ts';
import { jsonCorrections } from './json-corrections.ts';
import type { OriginalCsv, OriginalFile, OriginalJson, OriginalSheet } from './original-file.ts';
import type { ReportModel } from '../report-model.ts';
import type { ReportNote } from '../report-note.ts';
import { UnfitForWorkbook } from './workbook/fit-for-workbook.ts';
import { xlsxCorrections } from './workbook/xlsx-corrections.ts';
import { writeSynced } from '../write-synced.ts';

export interface CorrectionsRequest {
  readonly original: OriginalFile | undefined;
  readonly model: ReportModel;
  readonly spool: InvoiceSpool;
  readonly directory: string;
  /** Of the notes in a workbook. */
  readonly language: Language;
}

/** Whether a corrections file was written, and what the report says about it. */
export interface WrittenCorrections {
  /** Base name; null when there is nothing to hand back, or nothing to hand it back from. */
  readonly name: string | null;
  /** For the reader of the report, when there should have been one. */
  readonly note: ReportNote | null;
}

/** Writes the corrections file. A file that is gone or was changed costs the corrections, never the report. */
export async function writeCorrections({
  original,
  model,
  spool,
  directory,
  language,
}: CorrectionsRequest): Promise<WrittenCorrections> {
  // Of a refused file Lote cannot say what its rows are: the whole file is what has to be corrected.
  if (model.batch.state === 'refused') return { name: null, note: null };
  if (lacksLostRows(model.fileFindings)) return { name: null, note: { kind: 'corrections-incomplete' } };
  const plan = await planCorrections(spool.portions(), model.fileFindings);
  if (plan.byRow.size === 0) return { name: null, note: null };
  if (original === undefined) return { name: null, note: { kind: 'no-corrections' } };
  try {
    return original.kind === 'sheet'
      ? await writeWorkbook(original, plan, { directory, language })
      : { name: await write(original, plan, directory), note: null };
  } catch (error) {
    if (!isFileTrouble(error)) throw error;
    return { name: null, note: { kind: 'no-corrections' } };
  }
}

/** A workbook goes back as one, unless a workbook cannot hold it or nobody could work with it. */
async function writeWorkbook(
  original: OriginalSheet,
  plan: CorrectionsPlan,
  { directory, language }: { readonly directory: string; readonly language: Language },
): Promise<WrittenCorrections> {
  try {
    const name = await put(directory, 'corrections.xlsx', xlsxCorrections(original, plan, language));
    return { name, note: null };
  } catch (error) {
    if (!(error instanceof UnfitForWorkbook)) throw error;
    const note: ReportNote = { kind: 'corrections-as-csv', cause: error.message };
    return { name: await write(original.asCsv, plan, directory), note };
  }
}

function write(original: OriginalCsv | OriginalJson, plan: CorrectionsPlan, directory: string): Promise<string> {
  const pieces = original.kind === 'csv' ? csvCorrections(original, plan) : jsonCorrections(original, plan);
  return put(directory, `corrections.${extensionOf(original)}`, pieces);
}

/** The file, or nothing of it. */
async function put(directory: string, name: string, pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  try {
    await writeSynced(join(directory, name), pieces);
    return name;
  } catch (error) {
    await rm(join(directory, name), { force: true });
    throw error;
  }
}

/** Those under which a table of text is known. Cells of a file named `.html` would be a page of the console. */
const TEXT_TABLES: ReadonlySet<string> = new Set(['csv', 'tsv', 'tab', 'txt', 'dat', 'asc', 'prn']);

function extensionOf(original: OriginalCsv | OriginalJson): string {
  if (original.kind === 'json') return original.format === 'ndjson' ? 'ndjson' : 'json';
  const extension = original.extension.toLowerCase();
  return TEXT_TABLES.has(extension) ? extension : 'csv';
}

function isFileTrouble(error: unknown): boolean {
  return error instanceof LoteError && (error.code === 'file-changed' || error.code === 'file-unreadable');
}
