import { extname } from 'node:path';
import { ORIGINAL, readAsText } from '../../domain/read-as.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import { originalCell } from '../../domain/text/escape-formula.ts';
import { CsvReader, type CsvRecord } from '../../ingest/csv/csv-reader.ts';
import {
  WRONG_WIDTH,
  beforeSpreadsheet,
  originalAsText,
  originalCells,
  type RowMarks,
} from '../../ingest/csv/original-cells.ts';
import { CUT_CELL, cutColumn, hasWrongWidth, rowWidth } from '../../ingest/csv/row-width.ts';
import { decodeChunks } from '../../ingest/encoding/decide-encoding.ts';
import { fileChunks, hashFile } from '../../ingest/file-chunks.ts';
import type { Dialect, ReadColumn, Proof, SheetDialect } from '../../ingest/ingest-result.ts';
import { JsonReader, isObject, jsonText, type JsonValue } from '../../ingest/json/json-reader.ts';
import type {
  OriginalCsv,
  OriginalFile,
  OriginalJson,
  OriginalObject,
  OriginalRecord,
  OriginalCell,
  OriginalSheet,
} from '../../report/corrections/original-file.ts';
import { dialectOf, markOf, readAsOf } from './file-proof.ts';
import { findKeptFile } from './kept-files.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import { labelOf } from '../../ingest/csv/table-header.ts';
import { readSheetRows } from '../../ingest/workbook/sheet-records.ts';
import type { SheetCell } from '../../ingest/workbook/workbook.ts';

type ReportedFile = Pick<BatchRecord, 'file' | 'sha256' | 'state' | 'proof'>;

/**
 * Returns the dropped file of a batch, read again in its own dialect for corrections, with the row numbers of the first
 * reading. Returns null when the file is no longer kept, is damaged, or could not be read as rows.
 */
export async function originalOf(batch: ReportedFile, dataDir: string): Promise<OriginalFile | null> {
  const path = findKeptFile(dataDir, batch.sha256);
  if (path === null || batch.state === 'refused') return null;
  // A copy that a crash or a disk has damaged could be read as other invoices.
  const sha256 = await hashFile(path).catch(() => null);
  if (sha256 !== batch.sha256) return null;
  const dialect = dialectOf(batch.proof);
  const { format } = dialect;
  if (format === 'json' || format === 'ndjson') return originalJson(batch, path, dialect);
  return format === 'csv' ? originalCsv(batch, path, dialect) : originalSheet(path, batch.proof);
}

function originalCsv(batch: ReportedFile, path: string, dialect: Dialect): OriginalCsv {
  const { delimiter, lineEnd, encoding, bom, header } = dialect;
  return {
    kind: 'csv',
    extension: extname(batch.file).slice(1).toLowerCase() || 'csv',
    header,
    readAs: readAsText(readAsOf(batch.proof)),
    dialect: { delimiter: delimiter ?? ',', newline: newlineOf(lineEnd), encoding, byteOrderMark: bom },
    hasOriginals: dialect.read !== undefined,
    records: originalRecords(path, dialect, markOf(batch.proof)),
  };
}

async function* originalRecords(path: string, dialect: Dialect, mark: '.' | ',' | null) {
  const { header, read, own } = dialect;
  // Only a corrections file has this column.
  const originalAt = own ? header.findIndex((cell) => cell.trim() === ORIGINAL) : -1;
  const width = rowWidth(header);
  for await (const { row, cells, cut } of csvRecords(path, dialect)) {
    if (read === undefined) {
      yield { row, cells };
      continue;
    }
    const wrong: RowMarks = hasWrongWidth(cells, width) ? [[WRONG_WIDTH, '']] : [];
    const marks: RowMarks = cut === null ? wrong : [...wrong, [CUT_CELL, cut.header]];
    yield withOriginals({ row, cells }, { read, mark, marks, said: cells[originalAt] ?? '' });
  }
}

/** Restores cells that a spreadsheet has changed, so that a person needs to keep them and not to write them again. */
function withOriginals(
  record: { readonly row: number; readonly cells: readonly string[] },
  given: {
    readonly read: readonly ReadColumn[];
    readonly mark: '.' | ',' | null;
    /** Faults of the row now. */
    readonly marks: RowMarks;
    /** The row's cell of `lote_original`. */
    readonly said: string;
  },
): OriginalRecord {
  const { row } = record;
  const { cells, marks } = beforeSpreadsheet(record, given.read, given.said);
  // A new `lote_original` from cells that could not be compared would say that they are right.
  if (marks === null) return { row, cells, original: originalCell(given.said) };
  const isSaid = ([code, header]: RowMarks[number]): boolean =>
    marks.some(([known, place]) => known === code && place === header);
  const all = [...marks, ...given.marks.filter((one) => !isSaid(one))];
  return { row, cells, original: originalAsText({ cells: originalCells(cells, given.read, given.mark), marks: all }) };
}

/** `cut` is the last cell of a record if the file ends in it, so that the cell may be cut off. */
type ReadRecord = CsvRecord & { readonly cut: ReadColumn | null };

async function* csvRecords(path: string, dialect: Dialect): AsyncGenerator<ReadRecord> {
  const { delimiter, headerRow, read = [] } = dialect;
  const reader = new CsvReader(delimiter ?? ',');
  const below = headerRow ?? 0;
  for await (const chunk of decodeChunks(fileChunks(path), dialect)) {
    for (const record of await reader.write(chunk)) if (record.row > below) yield { ...record, cut: null };
  }
  const rest = await reader.end();
  const last = reader.ended === 'nothing' ? rest.at(-1) : undefined;
  for (const record of rest) {
    const cut = record === last ? cutColumn(record.cells, read) : null;
    if (record.row > below) yield { ...record, cut };
  }
}

function originalJson(batch: ReportedFile, path: string, dialect: Dialect): OriginalJson {
  return {
    kind: 'json',
    readAs: readAsText(readAsOf(batch.proof)),
    format: dialect.format === 'ndjson' ? 'ndjson' : (dialect.frame ?? 'array'),
    objects: jsonObjects(path, dialect),
  };
}

async function* jsonObjects(path: string, dialect: Dialect): AsyncGenerator<OriginalObject> {
  const reader = new JsonReader();
  let next = 1;
  function objectOf(value: JsonValue): OriginalObject {
    const lines = isObject(value) && Array.isArray(value['lines']) ? value['lines'].length : 0;
    const rows = Array.from({ length: Math.max(lines, 1) }, (_, at) => next + at);
    next += rows.length;
    return { rows, text: jsonText(value) };
  }
  for await (const chunk of decodeChunks(fileChunks(path), dialect))
    for (const value of reader.write(chunk)) yield objectOf(value);
  for (const value of reader.end()) yield objectOf(value);
}

function newlineOf(lineEnd: string | null): '\n' | '\r\n' | '\r' {
  return lineEnd === '\r\n' || lineEnd === '\r' ? lineEnd : '\n';
}

/** Returns the sheet of a kept workbook, so that corrections can contain its rows as cells. */
function originalSheet(path: string, proof: Proof): OriginalSheet {
  const dialect = dialectOf(proof);
  const isRead = new Set(dialect.read?.map(({ at }) => at));
  let merged: ReturnType<OriginalSheet['merged']> = [];
  return {
    kind: 'sheet',
    name: dialect.sheet?.name ?? '',
    header: dialect.header,
    readAs: readAsText({ ...readAsOf(proof), form: 'workbook' }),
    columns: columnsOf(dialect),
    rows: rows(),
    merged: () => merged,
  };

  async function* rows() {
    for await (const found of readSheetRows(path, dialect)) {
      const { row, recalculates } = found;
      merged = found.merged;
      const cells = Array.from(row.cells, (cell, at) =>
        cell === undefined ? undefined : sheetCell(cell, !(recalculates && cell.formula && isRead.has(at))),
      );
      yield { row: row.row, hidden: row.hidden, cells };
    }
  }
}

function columnsOf({ header, headerRow, sheet }: Dialect): OriginalSheet['columns'] {
  const columns = new Map<string, { position: number; column: Column }>();
  if (sheet === undefined) return columns;
  const places = { header: { row: headerRow ?? 0, cells: header }, map: sheet };
  for (const [at, column] of COLUMNS.entries()) {
    const position = positionOf(sheet, at, column);
    if (position >= 0) columns.set(labelOf(places, column), { position, column });
  }
  return columns;
}

/** A reference that is built from parts has the position of its first part. */
function positionOf({ indexes, referenceParts }: SheetDialect, at: number, column: Column): number {
  const index = indexes[at] ?? -1;
  return index < 0 && column === 'invoice_ref' ? (referenceParts[0] ?? -1) : index;
}

function sheetCell({ kind, text, format }: SheetCell, isBelievable: boolean): OriginalCell {
  if (kind === 'missing' || !isBelievable) return { kind: 'none', text, format: null };
  // If the format does not show the cell as a date, a correction would contain a number.
  const isShown = format !== null && (kind !== 'date' || format.kind === 'date');
  return { kind, text, format: isShown && format.code !== 0 ? format.code : null };
}
