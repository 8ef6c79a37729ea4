import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { COLUMNS } from '../../domain/row.ts';
import { CsvReader } from './csv-reader.ts';
import { decodeChunks } from '../encoding/decode-chunks.ts';
import { fileChunks } from '../file-chunks.ts';
import type { Dialect, Proof } from '../ingest-result.ts';
import { JsonReader } from '../json/json-reader.ts';
import { isObject, jsonText } from '../json/json-value.ts';
import type { JsonValue } from '../json/json-value.ts';
import { readSheetRows } from '../workbook/read-sheet-rows.ts';
import type { UnreadCell } from '../workbook/sheet-records.ts';

/** One record of the original file: cells of a CSV record, or the text of a JSON invoice object. */
export type OriginalRecord =
  | {
      readonly kind: 'csv';
      readonly row: number;
      readonly cells: readonly string[];
      /** Of a sheet, like the next. */
      readonly hidden?: boolean;
      readonly unread?: readonly UnreadCell[] | undefined;
      readonly wasNeverText?: boolean | undefined;
    }
  | { readonly kind: 'json'; /** Ordinals of its lines. */ readonly rows: readonly number[]; readonly text: string };

const DialectShape = z.object({
  format: z.enum(['csv', 'json', 'ndjson', 'xlsx', 'ods']),
  encoding: z.string(),
  bom: z.boolean(),
  delimiter: z.string().nullable(),
  lineEnd: z.string().nullable(),
  headerRow: z.number().nullable(),
  header: z.array(z.string()),
  unnamed: z.int().min(0).optional(),
  frame: z.enum(['array', 'invoices']).optional(),
  sheet: z
    .object({
      name: z.string(),
      indexes: z.array(z.number()),
      referenceParts: z.array(z.number()),
      marks: z.object({ quantity: z.enum(['.', ',']), unit_price: z.enum(['.', ',']) }),
    })
    .optional(),
  own: z.boolean(),
  read: z.array(z.object({ at: z.number(), header: z.string(), column: z.enum(COLUMNS) })).optional(),
});

/**
 * The dialect that `readFile` put into its proof.
 * @throws LoteError `internal` when the proof holds none
 */
export function dialectOf(proof: Proof): Dialect {
  const parsed = DialectShape.safeParse(proof['dialect']);
  if (parsed.success) return parsed.data;
  throw new LoteError(
    'internal',
    'Reading the proof of ingest: expected a dialect in it, found none or an incomplete one',
    { cause: parsed.error },
  );
}

/**
 * Reads the original file again in its own dialect, below the header, so that corrections can be written as the file was. Row numbers are
 * those of `readFile`; the bytes must be the same (compare the hash).
 * @throws LoteError `file-unreadable`, `internal`
 */
export async function* readRecords(path: string, proof: Proof, signal?: AbortSignal): AsyncGenerator<OriginalRecord> {
  const dialect = dialectOf(proof);
  if (dialect.sheet !== undefined) {
    yield* sheetRecords(path, dialect, signal);
    return;
  }
  const chunks = decodeChunks(fileChunks(path, signal), dialect);
  yield* dialect.format === 'csv' ? csvRecords(chunks, dialect) : jsonRecords(chunks);
}

async function* sheetRecords(path: string, dialect: Dialect, signal?: AbortSignal): AsyncGenerator<OriginalRecord> {
  for await (const { row, records } of readSheetRows(path, dialect, signal)) {
    const { inCsv, unread, wasNeverText } = records.record(row);
    yield { kind: 'csv', row: row.row, cells: inCsv, hidden: row.hidden, unread, wasNeverText };
  }
}

async function* csvRecords(
  chunks: AsyncIterable<Uint8Array>,
  { delimiter, headerRow }: Dialect,
): AsyncGenerator<OriginalRecord> {
  const reader = new CsvReader(delimiter ?? ',');
  const below = headerRow ?? 0;
  for await (const chunk of chunks) {
    for (const { row, cells } of await reader.write(chunk)) if (row > below) yield { kind: 'csv', row, cells };
  }
  for (const { row, cells } of await reader.end()) if (row > below) yield { kind: 'csv', row, cells };
}

async function* jsonRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<OriginalRecord> {
  const reader = new JsonReader();
  let next = 1;
  function asRecord(value: JsonValue): OriginalRecord {
    const lines = isObject(value) && Array.isArray(value['lines']) ? value['lines'].length : 0;
    const rows = Array.from({ length: Math.max(lines, 1) }, (_, at) => next + at);
    next += rows.length;
    return { kind: 'json', rows, text: jsonText(value) };
  }
  for await (const chunk of chunks) for (const value of reader.write(chunk)) yield asRecord(value);
  for (const value of reader.end()) yield asRecord(value);
}
