import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { type CorrectionsPlan, planCorrections } from './corrections-plan.ts';
import { csvCorrections } from './csv-corrections.ts';
import type { InvoiceSpool } from '../invoice-spool.ts';
import { jsonCorrections } from './json-corrections.ts';
import type { OriginalFile } from './original-file.ts';
import type { ReportModel } from '../report-model.ts';
import type { ReportNote } from '../report-note.ts';
import { writeSynced } from '../write-synced.ts';

export interface CorrectionsRequest {
  readonly original: OriginalFile | undefined;
  readonly model: ReportModel;
  readonly spool: InvoiceSpool;
  readonly directory: string;
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
}: CorrectionsRequest): Promise<WrittenCorrections> {
  // Of a refused file Lote cannot say what its rows are: the whole file is what has to be corrected.
  if (original === undefined || model.batch.state === 'refused') return { name: null, note: null };
  const plan = await planCorrections(spool.portions(), model.fileFindings);
  if (plan.byRow.size === 0) return { name: null, note: null };
  const name = `corrections.${extensionOf(original)}`;
  try {
    await writeSynced(join(directory, name), correctionsOf(original, plan));
    return { name, note: null };
  } catch (error) {
    if (!isFileTrouble(error)) throw error;
    await rm(join(directory, name), { force: true });
    return { name: null, note: { kind: 'no-corrections' } };
  }
}

function correctionsOf(original: OriginalFile, plan: CorrectionsPlan): AsyncIterable<string | Uint8Array> {
  return original.kind === 'csv' ? csvCorrections(original, plan) : jsonCorrections(original, plan);
}

function extensionOf(original: OriginalFile): string {
  if (original.kind === 'json') return original.format === 'ndjson' ? 'ndjson' : 'json';
  return /^[A-Za-z0-9]{1,8}$/u.test(original.extension) ? original.extension.toLowerCase() : 'csv';
}

function isFileTrouble(error: unknown): boolean {
  return error instanceof LoteError && (error.code === 'file-changed' || error.code === 'file-unreadable');
}
