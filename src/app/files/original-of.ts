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
import { CUT_CELL, cutColumn, hasWrongWidth, rowWidth } from '../../ingest/csv/table-header.ts';
import { decodeChunks } from '../../ingest/encoding/decide-encoding.ts';
import { fileChunks, hashFile } from '../../ingest/file-chunks.ts';
import type { Dialect, ReadColumn, Proof } from '../../ingest/ingest-result.ts';
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
import { dialectOf, FileProof, readAsOf } from './file-proof.ts';
import { findKeptFile } from './kept-files.ts';
import { FIELDS } from '../../domain/invoice.ts';
import type { Column } from '../../domain/row.ts';
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
    records: originalRecords(path, dialect, FileProof.parse(batch.proof).decimal?.mark ?? null),
  };
}

async function* originalRecords(path: string, dialect: Dialect, mark: '.' | ',' | null) {
  const { header, read, own } = dialect;
  // Only a corrections file has this column.
  const originalAt = own ? header.findIndex((cell) => cell.trim() === ORIGINAL) : -1;
  const width = rowWidth(header);
  for await (const { row, cells, cut } of csvRecords(path, dialect)) {
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
  const { delimiter, headerRow, read } = dialect;
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
    const members = isObject(value) ? Object.entries(value) : [];
    return { rows, members: members.map(([name, member]) => [name, jsonText(member)]) };
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
  const columnAt = new Map(dialect.read.map(({ at, column }) => [at, column]));
  let merged: ReturnType<OriginalSheet['merged']> = [];
  return {
    kind: 'sheet',
    name: dialect.sheet?.name ?? '',
    header: dialect.header,
    readAs: readAsText({ ...readAsOf(proof), form: 'workbook' }),
    columns: new Map(dialect.read.map(({ at, header, column }) => [header, { position: at, column }])),
    rows: rows(),
    merged: () => merged,
  };

  async function* rows() {
    for await (const found of readSheetRows(path, dialect)) {
      const { row, recalculates } = found;
      merged = found.merged;
      const cells = Array.from(row.cells, (cell, at) =>
        cell === undefined ? undefined : originalCellOf(cell, recalculates, columnAt.get(at)),
      );
      yield { row: row.row, hidden: row.hidden, cells };
    }
  }
}

/** A date is written as a text. Lote refuses a date as a reference or tax number, so there it is written as an error. */
function originalCellOf(cell: SheetCell, recalculates: boolean, column?: Column): OriginalCell {
  const { kind, text, format, formula } = cell;
  const isStale = recalculates && formula && column !== undefined;
  const role = column && FIELDS[column].role;
  const isMisplaced = kind === 'date' && (role === 'reference' || role === 'tax-number');
  if (kind === 'missing' || kind === 'error' || isStale || isMisplaced) return { kind: 'error', text, format: null };
  const isFormatted = (kind === 'number' || kind === 'text') && format !== null && format.code !== 0;
  return { kind: kind === 'number' ? 'number' : 'text', text, format: isFormatted ? format.code : null };
}
