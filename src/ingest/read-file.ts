import type { Finding } from '../domain/invoice.ts';
import { placeOf } from './line-count.ts';
import { decideEncoding, type EncodingDecision, decodeChunks, decodedHead } from './encoding/decide-encoding.ts';
import { fileChunks } from './file-chunks.ts';
import type { DecimalProof } from './csv/decimal-evidence.ts';
import { readNumber } from './invoice/read-number.ts';
import { FaultAt, FindingList, note, Refusal } from './findings.ts';
import type { IngestOptions, IngestResult, Proof } from './ingest-result.ts';
import { isJson } from './json/json-reader.ts';
import { readJson } from './json/read-json.ts';
import type { Read, Reading, ReadingBasis } from './reading.ts';
import { RowWriter } from './row-stores.ts';
import { scanFile, type FileScan } from './encoding/scan-file.ts';
import { isArchive, withWorkbook } from './workbook/open-workbook.ts';
import { readWorkbook } from './workbook/read-workbook.ts';
import type { RowStore } from '../domain/row.ts';
import { ORIGINAL } from '../domain/read-as.ts';
import { CsvReader } from './csv/csv-reader.ts';
import { CsvRows } from './csv/csv-rows.ts';
import { decideDialect } from './csv/decide-dialect.ts';
import { reportHeader, tableDialect, tableProof } from './csv/table-header.ts';
import type { TableHeader } from './profile/map-header.ts';

const CONTROL_Z = 0x1a;

interface ReadFileRequest {
  readonly path: string;
  readonly store: RowStore;
  readonly options?: IngestOptions;
  readonly signal?: AbortSignal | undefined;
}

interface ScannedFile extends Pick<ReadFileRequest, 'path' | 'signal'> {
  readonly scan: FileScan;
}

/**
 * Reads a file of invoices. Returns a refused result if it cannot determine the rows of the file.
 * The caller must not change the file meanwhile: a batch reads its own copy.
 * @throws LoteError `file-unreadable`, `usage`
 */
export async function readFile({ path, store, options = {}, signal }: ReadFileRequest): Promise<IngestResult> {
  const scan = await scanFile(path, signal);
  const findings = new FindingList();
  const counts = { rows: 0, rowsWithoutInvoice: 0, rowsLost: 0 };
  let proof: Proof = {};
  const noteProof = (part: Proof): void => {
    proof = { ...proof, ...part };
  };
  const basis = { findings, noteProof, counts, writer: new RowWriter(store), options };
  try {
    const file = { path, scan, signal };
    const read = await (isArchive(scan.head)
      ? withWorkbook(path, (workbook) => readWorkbook(workbook, basis, signal), signal)
      : readAsText(file, basis));
    requireInvoice(counts);
    const { dialect, decimal, conversion } = read;
    noteProof({ ...read.proof, dialect });
    const all = [...rowsLost(counts), ...thousandsRead(decimal), ...findings.all()];
    return { ok: true, format: dialect.format, sha256: scan.sha256, ...counts, findings: all, proof, conversion };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const all = [error.finding, ...findings.all()];
    return { ok: false, refused: true, sha256: scan.sha256, rows: counts.rows, findings: all, proof };
  }
}

async function readAsText(file: ScannedFile, basis: ReadingBasis): Promise<Read> {
  const { path, scan, signal } = file;
  const found = await checkedEncoding(file, basis.options);
  const { encoding, how, bom, samples } = found;
  basis.noteProof({ encoding: { name: encoding, how, bom, samples } });
  for (const finding of found.findings) basis.findings.add(finding);
  const head = await decodedHead(scan, found);
  const chunks = () => decodeChunks(fileChunks(path, signal), found);
  const hasCr = scan.hasCr || encoding.startsWith('utf-16');
  const reading: Reading = { ...basis, encoding, bom, chunks, head, hasCr };
  return isJson(head) ? readJson(reading) : readCsv(reading);
}

/** A wrong reading of such a number would be wrong by a factor of 1,000, so the report shows how Lote read it. */
function thousandsRead({ mark, thousands, grouping }: DecimalProof): readonly Finding[] {
  if (thousands === undefined) return [];
  const { row, column, value } = thousands;
  const proof =
    grouping === undefined ? 'as the mark is declared' : `as "${grouping.value}" in row ${grouping.row} shows`;
  const message = `Row ${row}, ${column}: "${value}" is read as ${readNumber(value, mark)?.value ?? value}, in whole thousands, ${proof}`;
  return [{ ...note('warning', 'thousands-grouped', message, row), column }];
}

/** One clear error before the many findings: their author meant these rows to be in invoices. */
function rowsLost(counts: Reading['counts']): readonly Finding[] {
  if (counts.rowsLost === 0) return [];
  const message = `${counts.rowsLost} of ${counts.rows} rows have no usable reference or tax number and are in no invoice. Nothing of them is sent; correct them and drop the file, or its corrections, again`;
  return [note('error', 'rows-lost', message)];
}

async function checkedEncoding({ path, scan, signal }: ScannedFile, options: IngestOptions): Promise<EncodingDecision> {
  if (scan.size === 0)
    throw new Refusal('file-empty', 'Expected invoices, found an empty file of 0 bytes. Export it again');
  const foreign = foreignFormat(scan.head);
  if (foreign !== null) {
    const message = `Expected CSV, JSON, NDJSON, XLSX or ODS, found ${foreign}. Save or export it as one of these`;
    throw new Refusal('format-foreign', message);
  }
  // DOS programs ignore the text behind control-Z; here nothing follows it.
  if (scan.lastByte === CONTROL_Z) {
    const message =
      'Expected text to its end, found control-Z (byte 1A) as the last character, with which DOS programs end a file. Remove it, or export the file without it';
    throw new Refusal('control-z', message);
  }
  try {
    return decideEncoding(scan, options);
  } catch (error) {
    if (!(error instanceof FaultAt)) throw error;
    const { line } = await placeOf(fileChunks(path, signal), error.offset);
    const message = `Line ${line}, byte ${error.offset + 1} of the file: ${error.message}`;
    throw new Refusal(error.code, message, { row: line });
  }
}

function requireInvoice(counts: Reading['counts']): void {
  if (counts.rows > counts.rowsWithoutInvoice) return;
  const found =
    counts.rows === 0 ? 'no row at all' : `${counts.rows} rows, none with a usable reference and tax number`;
  throw new Refusal('no-invoice', `Expected at least one invoice, found ${found}`);
}

/** Beginnings of files that people take for one that Lote reads. Bytes are matched as latin1. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/^PK\p{Cc}\p{Cc}/u, 'an empty ZIP archive'],
  [/^%PDF/u, 'a PDF document'],
  [/^\p{Cc}\x8b/u, 'a gzip archive'],
  [/^\xd0\xcf\p{Cc}\xe0/u, 'an old Excel workbook (XLS), or one with a password'],
  [/^\s*<(?:!doctype html|html|table|head|body)\b/iu, 'an HTML page'],
  [/^\s*\{\\rtf/iu, 'a text document in RTF'],
  [/^\s*mime-version:/iu, 'a web archive (MHTML), as some programs export for Excel'],
  [/^\s*<(?:\?xml|\w+[\s:>])/iu, 'an XML document'],
  [
    /^\s*\p{Cc}\s*[[{]/u,
    'a JSON text sequence, with a record separator (U+001E) before each record. Remove these characters, which leaves NDJSON',
  ],
  [
    /^\s*(?:(?:\/\/|#)[^\r\n]*[\r\n]+\s*|\/\*[^]*?\*\/\s*)+[[{]/u,
    'JSON with comments, which JSON does not have. Remove the comments',
  ],
];

/** Names a foreign format for an operator. Returns null for what may be text that Lote reads. */
function foreignFormat(head: Buffer): string | null {
  const beginning = head.toString('latin1', 0, 512).replace(/^\xef\xbb\xbf/u, '');
  return FOREIGN.find(([form]) => form.test(beginning))?.[1] ?? null;
}

/** @throws Refusal if Lote cannot determine the rows of the CSV file */
async function readCsv(reading: Reading): Promise<Read> {
  const dialect = await decideDialect(reading.head, reading.options);
  reading.noteProof({
    delimiter: { value: dialect.delimiter, how: dialect.how, headerRow: dialect.header.row },
    ...tableProof(dialect),
  });
  reportHeader(reading.findings, dialect.header, dialect.how === 'sep-line' ? 2 : 1);
  requireOriginals(dialect);
  const reader = new CsvReader(dialect.delimiter, reading.hasCr);
  const { delimiter } = dialect;
  const rows = new CsvRows(reading, dialect, delimiter);
  for await (const chunk of reading.chunks()) {
    for (const record of await reader.write(chunk)) rows.take(record);
    await reading.writer.drain();
  }
  for (const record of await reader.end()) rows.take(record);
  rows.end(reader.ended);
  await reading.writer.flush();
  const { encoding, bom } = reading;
  const { lineEnd } = dialect;
  return {
    ...rows.decide('csv'),
    dialect: { format: 'csv', encoding, bom, delimiter, lineEnd, ...tableDialect(dialect) },
  };
}

/** Without it, a reference that lost its zeros looks like any other. A workbook keeps its cells as they are. */
function requireOriginals({ header, map }: TableHeader): void {
  if (!map.own || map.original >= 0) return;
  const message = `Header in row ${header.row}: a corrections file in CSV has the column ${ORIGINAL}, which shows what a spreadsheet has changed by itself, such as 00012 into 12, found none. Correct the file as Lote wrote it (corrections.xlsx stays a workbook), or put the column back: its cells may be empty once you have compared references, tax numbers and amounts with the dropped file`;
  throw new Refusal('corrections-not-compared', message, { row: header.row, column: ORIGINAL });
}
