import { extname } from 'node:path';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { ORIGINAL, readAsText } from '../../domain/read-as.ts';
import { originalCell } from '../../domain/text/escape-formula.ts';
import { authorColumns } from '../../ingest/csv/author-columns.ts';
import { beforeSpreadsheet, originalCells } from '../../ingest/csv/original-cells.ts';
import { originalAsText } from '../../ingest/csv/original-text.ts';
import type { RowMarks } from '../../ingest/csv/original-text.ts';
import { joinedMarks, sheetMarks } from '../../ingest/csv/row-marks.ts';
import { rowWidth, trailingCells, widthMark } from '../../ingest/csv/row-width.ts';
import type { ComparedTable, NumberMarks } from '../../ingest/csv/original-cells.ts';
import { dialectOf, readRecords } from '../../ingest/csv/read-records.ts';
import { hashFile } from '../../ingest/hash-file.ts';
import type { ReadColumn } from '../../ingest/ingest-result.ts';
import type {
  OriginalCsv,
  OriginalFile,
  OriginalJson,
  OriginalRecord,
} from '../../report/corrections/original-file.ts';
import { findKeptFile } from './kept-files.ts';
import { mergedRows } from './merged-rows.ts';
import { originalSheet } from './original-sheet.ts';
import { numberMarksOf, readAsOf } from './read-as-of.ts';

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
  const { format, sheet } = dialectOf(batch.proof);
  if (format === 'json' || format === 'ndjson') return jsonOriginal(batch, path);
  const asCsv = csvOriginal(batch, path);
  return sheet === undefined ? asCsv : originalSheet(path, batch.proof, asCsv);
}

function csvOriginal(batch: ReportedFile, path: string): OriginalCsv {
  const { delimiter, lineEnd, encoding, bom, header, sheet, read, own, unnamed } = dialectOf(batch.proof);
  const marks = numberMarksOf(batch.proof);
  const originalAt = own ? header.findIndex((cell) => cell.trim() === ORIGINAL) : -1;
  const ofRows = sheet === undefined ? (unnamed ?? trailingCells(header)) : 0;
  const shape = { ...rowWidth(header, ofRows), author: authorColumns(header, own), own };
  return {
    kind: 'csv',
    // A workbook that is written as CSV must not have a name that says otherwise.
    extension: (sheet === undefined ? extname(batch.file).slice(1).toLowerCase() : '') || 'csv',
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
    const merged = await mergedRows(path, batch.proof);
    for await (const record of readRecords(path, batch.proof)) {
      if (record.kind !== 'csv') continue;
      if (read === undefined) yield { row: record.row, cells: record.cells };
      else {
        const { hidden = false, unread = [], wasNeverText = false, cells: inCsv } = record;
        const ofRow = sheetMarks({ hidden, merged: merged.has(record.row), unread, inCsv }, read);
        yield withOriginals(record, { read, marks, originalAt, shape: { ...shape, wasNeverText }, ofRow });
      }
    }
  }
}

/** What a spreadsheet has changed goes back as it was: somebody has to keep it so, and not to write it anew. */
function withOriginals(
  record: { readonly row: number; readonly cells: readonly string[] },
  given: {
    readonly read: readonly ReadColumn[];
    readonly marks: NumberMarks;
    /** Of a corrections file that came back; -1: it is none, or has no such column. */
    readonly originalAt: number;
    readonly shape: Parameters<typeof widthMark>[1] & Pick<ComparedTable, 'wasNeverText'>;
    /** What the sheet shows of it, and a text does not. */
    readonly ofRow: RowMarks;
  },
): OriginalRecord {
  const { read, marks: numbers, shape, ofRow } = given;
  const said = record.cells[given.originalAt] ?? '';
  const { cells, marks } = beforeSpreadsheet(record, { read, ...shape }, said);
  // Made anew from cells that nobody could compare, it would say that they are right.
  if (marks === null) return { row: record.row, cells, original: originalCell(said) };
  const width = widthMark(record.cells, shape);
  const original = originalAsText({
    cells: originalCells(cells, read, numbers),
    marks: { ...joinedMarks(marks, ofRow), ...(width === undefined ? {} : { cells: width }) },
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
