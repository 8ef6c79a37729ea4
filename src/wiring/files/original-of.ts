import { access } from 'node:fs/promises';
import { extname } from 'node:path';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { readAsText } from '../../domain/read-as.ts';
import { dialectOf, readRecords } from '../../ingest/csv/read-records.ts';
import type { OriginalCsv, OriginalFile, OriginalJson } from '../../report/corrections/original-file.ts';
import { keptFile } from './input-files.ts';
import { originalSheet } from './original-sheet.ts';
import { decimalMarkOf, readAsOf } from './read-as-of.ts';

type ReportedFile = Pick<BatchRecord, 'file' | 'sha256' | 'state' | 'proof'>;

/**
 * The file of a batch as it was dropped, to be read again for its corrections. Null when it is not kept any more, or could not be read as
 * rows and has no dialect to write corrections in.
 */
export async function originalOf(batch: ReportedFile, dataDir: string): Promise<OriginalFile | null> {
  const path = keptFile(dataDir, batch.sha256);
  const isKept = await access(path).then(
    () => true,
    () => false,
  );
  if (!isKept || batch.state === 'refused') return null;
  const { format, sheet } = dialectOf(batch.proof);
  if (format === 'json' || format === 'ndjson') return jsonOriginal(batch, path);
  const asCsv = csvOriginal(batch, path);
  return sheet === undefined ? asCsv : originalSheet(path, batch.proof, asCsv);
}

function csvOriginal(batch: ReportedFile, path: string): OriginalCsv {
  const { delimiter, lineEnd, encoding, bom, header, sheet } = dialectOf(batch.proof);
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
      decimalMark: decimalMarkOf(batch.proof),
    },
    records: csvRecords(),
  };

  async function* csvRecords() {
    for await (const record of readRecords(path, batch.proof))
      if (record.kind === 'csv') yield { row: record.row, cells: record.cells };
  }
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
