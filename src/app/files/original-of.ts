import { extname } from 'node:path';
import { ORIGINAL, readAsText } from '../../domain/read-as.ts';
import { originalCell } from '../../domain/text/escape-formula.ts';
import {
  WRONG_WIDTH,
  beforeSpreadsheet,
  originalAsText,
  originalCells,
  type RowMarks,
} from '../../ingest/csv/original-cells.ts';
import { CUT_CELL, hasWrongWidth, rowWidth, trailingCells, type RowWidth } from '../../ingest/csv/row-width.ts';
import { dialectOf, readRecords } from './read-records.ts';
import { hashFile } from '../../ingest/file-chunks.ts';
import type { ReadColumn } from '../../ingest/ingest-result.ts';
import type {
  OriginalCsv,
  OriginalFile,
  OriginalJson,
  OriginalRecord,
} from '../../report/corrections/original-file.ts';
import { findKeptFile } from './kept-files.ts';
import { originalSheet } from './original-sheet.ts';
import { markOf, readAsOf } from './read-as-of.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';

type ReportedFile = Pick<BatchRecord, 'file' | 'sha256' | 'state' | 'proof'>;

/**
 * The file of a batch as it was dropped, to be read again for its corrections. Null when it is not kept any more, was damaged, or could not be read as
 * rows and has no dialect to write corrections in.
 */
export async function originalOf(batch: ReportedFile, dataDir: string): Promise<OriginalFile | null> {
  const path = await findKeptFile(dataDir, batch.sha256);
  if (path === null || batch.state === 'refused') return null;
  // A copy that a crash or a disk has damaged may read as other invoices.
  const isWhole = await hashFile(path).then(
    (sha256) => sha256 === batch.sha256,
    () => false,
  );
  if (!isWhole) return null;
  const { format } = dialectOf(batch.proof);
  if (format === 'json' || format === 'ndjson') return jsonOriginal(batch, path);
  return format === 'csv' ? csvOriginal(batch, path) : originalSheet(path, batch.proof);
}

function csvOriginal(batch: ReportedFile, path: string): OriginalCsv {
  const { delimiter, lineEnd, encoding, bom, header, read, own, unnamed } = dialectOf(batch.proof);
  const mark = markOf(batch.proof);
  const originalAt = own ? header.findIndex((cell) => cell.trim() === ORIGINAL) : -1;
  const width = rowWidth(header, unnamed ?? trailingCells(header));
  return {
    kind: 'csv',
    extension: extname(batch.file).slice(1).toLowerCase() || 'csv',
    header,
    readAs: readAsText(readAsOf(batch.proof)),
    dialect: {
      delimiter: delimiter ?? ',',
      newline: newlineOf(lineEnd),
      encoding,
      byteOrderMark: bom,
    },
    hasOriginals: read !== undefined,
    records: csvRecords(),
  };

  async function* csvRecords() {
    for await (const record of readRecords(path, batch.proof)) {
      if (record.kind !== 'csv') continue;
      if (read === undefined) yield { row: record.row, cells: record.cells };
      else yield withOriginals(record, { read, mark, originalAt, width });
    }
  }
}

/** What a spreadsheet has changed goes back as it was: a person has to keep it so, and not to write it anew. */
function withOriginals(
  record: { readonly row: number; readonly cells: readonly string[]; readonly cut?: ReadColumn | undefined },
  given: {
    readonly read: readonly ReadColumn[];
    readonly mark: '.' | ',' | null;
    /** Of a corrections file that came back; -1: it is none, or has no such column. */
    readonly originalAt: number;
    readonly width: RowWidth;
  },
): OriginalRecord {
  const { read, mark, width } = given;
  const said = record.cells[given.originalAt] ?? '';
  const { cells, marks } = beforeSpreadsheet(record, read, said);
  // Made anew from cells that could not be compared, it would say that they are right.
  if (marks === null) return { row: record.row, cells, original: originalCell(said) };
  const now: RowMarks = [
    ...(hasWrongWidth(record.cells, width) ? [[WRONG_WIDTH, ''] as const] : []),
    ...(record.cut === undefined ? [] : [[CUT_CELL, record.cut.header] as const]),
  ].map(([code, header]) => [code, header]);
  const isSaid = ([code, header]: RowMarks[number]): boolean =>
    marks.some(([known, place]) => known === code && place === header);
  const original = originalAsText({
    cells: originalCells(cells, read, mark),
    marks: [...marks, ...now.filter((one) => !isSaid(one))],
  });
  return { row: record.row, cells, original };
}

function jsonOriginal(batch: ReportedFile, path: string): OriginalJson {
  const { format, frame } = dialectOf(batch.proof);
  return {
    kind: 'json',
    readAs: readAsText(readAsOf(batch.proof)),
    format: format === 'ndjson' ? 'ndjson' : (frame ?? 'array'),
    objects: jsonObjects(),
  };

  async function* jsonObjects() {
    for await (const record of readRecords(path, batch.proof))
      if (record.kind === 'json') yield { rows: record.rows, text: record.text };
  }
}

function newlineOf(lineEnd: string | null): '\n' | '\r\n' | '\r' {
  return lineEnd === '\r\n' || lineEnd === '\r' ? lineEnd : '\n';
}
