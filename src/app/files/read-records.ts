import { LoteError } from '../../domain/errors.ts';
import { CsvReader } from '../../ingest/csv/csv-reader.ts';
import { cutColumn } from '../../ingest/csv/row-width.ts';
import { decodeChunks } from '../../ingest/encoding/decode-chunks.ts';
import { fileChunks } from '../../ingest/file-chunks.ts';
import { Dialect, type Proof, type ReadColumn } from '../../ingest/ingest-result.ts';
import { JsonReader } from '../../ingest/json/json-reader.ts';
import { isObject, jsonText, type JsonValue } from '../../ingest/json/json-value.ts';

/** One record of the original file: cells of a CSV record, or the text of a JSON invoice object. */
export type OriginalRecord =
  | {
      readonly kind: 'csv';
      readonly row: number;
      readonly cells: readonly string[];
      /** Its last cell, where the file ends in it and may be cut. */
      readonly cut?: ReadColumn | undefined;
    }
  | { readonly kind: 'json'; /** Ordinals of its lines. */ readonly rows: readonly number[]; readonly text: string };

/**
 * The dialect that `readFile` put into its proof.
 * @throws LoteError `internal` when the proof holds none
 */
export function dialectOf(proof: Proof): Dialect {
  const parsed = Dialect.safeParse(proof['dialect']);
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
  const chunks = decodeChunks(fileChunks(path, signal), dialect);
  yield* dialect.format === 'csv' ? csvRecords(chunks, dialect) : jsonRecords(chunks);
}

async function* csvRecords(
  chunks: AsyncIterable<Uint8Array>,
  { delimiter, headerRow, read = [] }: Dialect,
): AsyncGenerator<OriginalRecord> {
  const reader = new CsvReader(delimiter ?? ',');
  const below = headerRow ?? 0;
  for await (const chunk of chunks) {
    for (const { row, cells } of await reader.write(chunk)) if (row > below) yield { kind: 'csv', row, cells };
  }
  const rest = await reader.end();
  const last = reader.ended === 'nothing' ? rest.at(-1) : undefined;
  for (const record of rest) {
    const { row, cells } = record;
    const cut = record === last ? (cutColumn(cells, read) ?? undefined) : undefined;
    if (row > below) yield { kind: 'csv', row, cells, cut };
  }
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
