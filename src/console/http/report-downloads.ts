import { readdir } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { EXCEL_CSV_START, excelCsvRecord } from '../../domain/text/escape-formula.ts';

const PLAIN_NAME = /^\w[\w.-]*$/u;
const REPORT_FILE = /^(?:report\.[a-z0-9]+|corrections[\w-]*\.[a-z0-9]+)$/u;

/** The only one that is a page; whatever else a folder holds is saved. */
const SHOWN = 'report.html';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  // No charset: corrections have the encoding of the file they came from.
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** A report holds texts of files and of the service: whatever they are, nothing in it runs or loads. */
const REPORT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Names of the files that a batch's report consists of; none when there is no report yet. */
export async function reportFiles(reportsDir: string, batchId: string): Promise<readonly string[]> {
  if (!PLAIN_NAME.test(batchId)) return [];
  const names = await namesIn(join(reportsDir, batchId));
  return names.filter((name) => REPORT_FILE.test(name)).toSorted();
}

/** The answer with one of these files; `name` must be one that `reportFiles` has listed. */
export function reportFileAnswer(reportsDir: string, batchId: string, name: string): Response {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const stream = createReadStream(join(reportsDir, batchId, name));
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type':
        (extension === 'html' && name !== SHOWN ? null : MEDIA_TYPES[extension]) ?? 'application/octet-stream',
      'content-disposition': name === SHOWN ? 'inline' : `attachment; filename="${name}"`,
      'content-security-policy': REPORT_POLICY,
    },
  });
}

/** Names in a folder; none where it is not there. Any other error is thrown. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Whether an error of the system says that a file or folder is not there (`ENOENT`). The console reads through ports, so it has its own. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Cells of a table; the first row has the headings. A `decimal` is canonical. */
export type Table = readonly (readonly (string | { readonly decimal: string })[])[];

/** A table as CSV for Excel, to be saved: byte order mark, separator hint, inert cells, and decimals with the mark that the reader's Excel expects. */
export function csvAnswer(context: Context, name: string, table: Table, decimalMark = '.'): Response {
  const textOf = (cell: Table[number][number]) =>
    typeof cell === 'string' ? cell : cell.decimal.replace('.', decimalMark);
  const csv = EXCEL_CSV_START + table.map((row) => excelCsvRecord(row.map(textOf))).join('');
  return context.body(csv, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
}
