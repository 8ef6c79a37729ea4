import { createHash } from 'node:crypto';
import { LoteError } from '../domain/errors.ts';
import type { Finding } from '../domain/invoice.ts';
import type { RowStore } from '../domain/ports/row-store.ts';
import { decideEncoding, UndecodableAt } from './encoding/decide-encoding.ts';
import type { EncodingDecision } from './encoding/decide-encoding.ts';
import { decodeChunks } from './encoding/decode-chunks.ts';
import { decodedHead } from './encoding/decoded-head.ts';
import { fileChunks } from './file-chunks.ts';
import { FindingList } from './finding-list.ts';
import { foreignFormat } from './foreign-format.ts';
import { hashFile } from './hash-file.ts';
import type { IngestOptions } from './ingest-options.ts';
import type { Dialect, IngestResult, Proof } from './ingest-result.ts';
import { LineIndex } from './csv/line-index.ts';
import { readCsv } from './csv/read-csv.ts';
import { readJson } from './json/read-json.ts';
import type { Read, Reading } from './reading.ts';
import { Refusal } from './refusal.ts';
import { RowWriter } from './row-writer.ts';
import { isArchive, openWorkbook } from './workbook/open-workbook.ts';
import { readWorkbook } from './workbook/read-workbook.ts';
import { scanFile } from './scan-file.ts';
import type { FileScan } from './scan-file.ts';

export interface ReadFileRequest {
  readonly path: string;
  /** Gets the rows that have an identity, in portions. */
  readonly store: RowStore;
  readonly options?: IngestOptions;
  readonly signal?: AbortSignal;
}

/**
 * Reads a file of invoices: bytes, encoding, dialect, rows. A file of which Lote cannot say what its rows are is refused, with the reason
 * as a finding.
 * @throws LoteError `file-unreadable`; `file-changed` when it was written to meanwhile; `usage` for an unknown encoding name
 */
export async function readFile(request: ReadFileRequest): Promise<IngestResult> {
  const { path, signal } = request;
  const scan = await scanFile(path, signal);
  const findings = new FindingList();
  const counts = { rows: 0, rowsWithoutInvoice: 0, rowsLost: 0 };
  let proof: Proof = {};
  try {
    const noteProof = (part: Proof): void => {
      proof = { ...proof, ...part };
    };
    const basis = { findings, noteProof, counts, writer: new RowWriter(request.store), options: request.options ?? {} };
    const given = { scan, request, basis };
    const read = await (isArchive(scan.head) ? readAsWorkbook(given) : readAsText(given));
    requireInvoice(basis);
    return accepted({ scan, read, basis, proof });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      ok: false,
      refused: true,
      sha256: scan.sha256,
      rows: counts.rows,
      findings: [error.finding, ...findings.all()],
      proof,
    };
  }
}

type Basis = Omit<Reading, 'chunks' | 'head' | 'lineEnds'>;

interface ReadFrom {
  readonly scan: FileScan;
  readonly request: ReadFileRequest;
  readonly basis: Basis;
}

async function readAsText({ scan, request, basis }: ReadFrom): Promise<ReadFileContent> {
  const encoding = await checkedEncoding(scan, request);
  basis.noteProof({
    encoding: { name: encoding.encoding, how: encoding.how, bom: encoding.bom, samples: encoding.samples },
  });
  for (const finding of encoding.findings) basis.findings.add(finding);
  const head = await decodedHead(scan, encoding);
  const chunks = () => decodeChunks(sameBytes(request.path, scan.sha256, request.signal), encoding);
  const lineEnds = encoding.encoding.startsWith('utf-16') ? [] : scan.lineEnds.found();
  const reading: Reading = { ...basis, chunks, head, lineEnds };
  const read = await (isJson(head) ? readJson(reading) : readCsv(reading));
  return { ...read, dialect: { ...read.dialect, encoding: encoding.encoding, bom: encoding.bom } };
}

/** A ZIP archive is read at its end first, so that what is damaged may also be a file that somebody is still writing. */
async function readAsWorkbook({ scan, request, basis }: ReadFrom): Promise<ReadFileContent> {
  const { path, signal } = request;
  try {
    const workbook = await openWorkbook(path, signal);
    try {
      const read = await readWorkbook(workbook, basis, signal);
      // Its texts are Unicode; corrections of it are written with a mark that Excel knows UTF-8 by.
      return { ...read, dialect: { ...read.dialect, encoding: 'utf-8', bom: true } };
    } finally {
      workbook.close();
    }
  } finally {
    await requireSameBytes(path, scan.sha256, signal);
  }
}

interface ReadFileContent extends Omit<Read, 'dialect'> {
  readonly dialect: Dialect;
}

function accepted(given: { scan: FileScan; read: ReadFileContent; basis: Basis; proof: Proof }): IngestResult {
  const { scan, read, basis, proof } = given;
  return {
    ok: true,
    format: read.dialect.format,
    sha256: scan.sha256,
    rows: basis.counts.rows,
    rowsWithoutInvoice: basis.counts.rowsWithoutInvoice,
    rowsLost: basis.counts.rowsLost,
    findings: [...rowsLost(basis), ...basis.findings.all()],
    proof: { ...proof, ...read.proof, dialect: read.dialect },
    conversion: read.conversion,
  };
}

/** One loud line before the many: these rows are in no invoice, and somebody meant them to be. */
function rowsLost({ counts }: Basis): readonly Finding[] {
  if (counts.rowsLost === 0) return [];
  const message = `${counts.rowsLost} of ${counts.rows} rows have no usable reference or tax number and are in no invoice. Nothing of them is sent; correct them and drop the file, or its corrections, again`;
  return [{ row: null, column: null, code: 'rows-lost', message, severity: 'error' }];
}

async function checkedEncoding(scan: FileScan, { path, options, signal }: ReadFileRequest): Promise<EncodingDecision> {
  if (scan.size === 0)
    throw new Refusal('file-empty', 'Expected invoices, found an empty file of 0 bytes. Export it again');
  const foreign = foreignFormat(scan.head);
  if (foreign !== null)
    throw new Refusal(
      'format-foreign',
      `Expected CSV, JSON, NDJSON, XLSX or ODS, found ${foreign}. Save or export it as one of these`,
    );
  try {
    return decideEncoding(scan, options);
  } catch (error) {
    if (!(error instanceof UndecodableAt)) throw error;
    const line = await lineOf(path, error.offset, signal);
    throw new Refusal(error.code, `Line ${line}, byte ${error.offset + 1} of the file: ${error.message}`, {
      row: line,
    });
  }
}

async function lineOf(path: string, offset: number, signal?: AbortSignal): Promise<number> {
  const lines = new LineIndex();
  for await (const chunk of fileChunks(path, signal)) {
    lines.push(chunk);
  }
  return lines.lineAt(offset);
}

/** Content decides: JSON starts with a bracket or a brace, and no header line of a CSV file does. */
function isJson(head: Uint8Array): boolean {
  return /^[\s]*[[{]/.test(Buffer.from(head.subarray(0, 4096)).toString('utf8'));
}

/** The bytes again, and an error when they are not those that were scanned: a file still being written must not be read halfway. */
async function* sameBytes(path: string, sha256: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(path, signal)) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw changed(path);
}

async function requireSameBytes(path: string, sha256: string, signal?: AbortSignal): Promise<void> {
  if ((await hashFile(path, signal)) !== sha256) throw changed(path);
}

function changed(path: string): LoteError {
  return new LoteError(
    'file-changed',
    `Reading ${path}: expected a finished file, but its content changed while it was read. Drop it again when it is complete`,
  );
}

function requireInvoice({ counts }: Basis): void {
  if (counts.rows > counts.rowsWithoutInvoice) return;
  const found =
    counts.rows === 0 ? 'no row at all' : `${counts.rows} rows, none with a usable reference and tax number`;
  throw new Refusal('no-invoice', `Expected at least one invoice, found ${found}`);
}
