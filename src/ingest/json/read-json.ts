import type { Finding } from '../../domain/invoice.ts';
import { READ_AS } from '../../domain/read-as.ts';
import { COLUMNS } from '../../domain/row.ts';
import { entriesBeside, saysEnd, signOfKey, signOfLaterPage, signOfLength } from '../../domain/text/paging-signs.ts';
import { MOST_HEADERS_SHOWN } from '../csv/table-header.ts';
import { FaultAt, Refusal, rowError, shorten } from '../findings.ts';
import { placeOf } from '../line-count.ts';
import { NUMBER_COLUMNS } from '../ingest-result.ts';
import { nifProblem, normalNif } from '../invoice/identity.ts';
import { expandExponent } from '../invoice/read-number.ts';
import { unconfirmed, headerName, namedHeaders } from '../profile/map-header.ts';
import { type Read, type Reading, RowCollector } from '../reading.ts';
import { JsonMembers, valuesAt, JSON_PATHS, cellsOf, shapeProblems } from './json-members.ts';
import { JsonReader, JsonNumber, isObject, jsonText, type JsonObject, type JsonValue } from './json-reader.ts';

/** Reads a JSON or NDJSON file into rows. @throws Refusal for broken, truncated, duplicate-key or hostile JSON */
export async function readJson(reading: Reading): Promise<Read> {
  const reader = new JsonReader();
  const rows = new JsonRows(reading);
  try {
    for await (const chunk of reading.chunks()) {
      for (const record of reader.write(chunk)) rows.take(record);
      await reading.writer.drain();
    }
    for (const record of reader.end()) rows.take(record);
  } catch (error) {
    if (!(error instanceof FaultAt)) throw error;
    const { line, column } = await placeOf(reading.chunks(), error.offset);
    const message = `Line ${line}, column ${column}: ${error.message}. Correct the file, or export it again`;
    throw new Refusal(error.code, message);
  }
  rows.noteSkipped();
  requireWhole(reader.otherMembers, rows.objects);
  rows.members.noteEnvelope(reader.otherMembers);
  const ignored = requireConfirmed(rows.members, reading.options);
  await reading.writer.flush();
  const { format, frame } = reader;
  const decided = rows.decided({ format, labels: JSON_PATHS, lostReferences: {} });
  const { encoding, bom } = reading;
  const ofTables = { delimiter: null, lineEnd: null, headerRow: null, header: [], read: [] };
  const dialect = { format, frame, own: rows.own, encoding, bom, ...ofTables };
  return { ...decided, dialect, proof: { ignored, ...decided.proof } };
}

/** An answer of a service that was saved lacks the other pages. @throws Refusal `part-of-a-list` */
function requireWhole(envelope: JsonObject, items: number): void {
  const entries = [...entriesBeside(JSON.parse(jsonText(envelope)), {})];
  const read = { items, pages: 1 };
  const signs = entries.map((entry) => signOfKey(entry, read, 'invoices') ?? signOfLaterPage(entry));
  const isWhole = entries.some((entry) => saysEnd(entry, read));
  const lengths = isWhole ? [] : entries.map((entry) => signOfLength(entry, items));
  const sign = [...signs, ...lengths].find((found) => found !== null) ?? null;
  if (sign === null) return;
  const message = `Expected all invoices, found one page of a longer list: ${sign}. Export the whole list, or remove what stands beside "invoices" if nothing is missing`;
  throw new Refusal('part-of-a-list', message);
}

/** The profile names each unknown member; one may be missing. @throws Refusal `layout-unconfirmed` */
function requireConfirmed({ unknown }: JsonMembers, options: Reading['options']): readonly string[] {
  const named = namedHeaders(options);
  const open = [...unknown].filter((path) => !named.has(headerName(path)));
  if (open.length === 0) return [...unknown].slice(0, MOST_HEADERS_SHOWN).map((path) => shorten(path, 80));
  throw new Refusal('layout-unconfirmed', `Members of the invoices: ${unconfirmed(open, [])}`);
}

const NIF = COLUMNS.indexOf('merchant_nif');
const REF = COLUMNS.indexOf('invoice_ref');
const OWN_MEMBERS = ['lote_state', 'lote_reason'] as const;

class JsonRows extends RowCollector {
  readonly members = new JsonMembers();
  objects = 0;
  #ofCorrections = 0;

  /** True for a corrections file: every object has a state and a reason. */
  get own(): boolean {
    return this.objects > 0 && this.#ofCorrections === this.objects;
  }

  take(record: JsonValue): void {
    this.objects += 1;
    if (isObject(record) && OWN_MEMBERS.every((name) => name in record)) this.#ofCorrections += 1;
    const first = this.reading.counts.rows + 1;
    if (!isObject(record))
      return this.#withoutInvoice(1, [
        rowError(first, null, 'record-not-object', 'expected an invoice object, found another value'),
      ]);
    this.members.note(record);
    const readAs = record[READ_AS];
    if (typeof readAs === 'string') this.noteReadAs(first, readAs);
    const lines = Array.isArray(record['lines']) ? record['lines'] : [];
    // An invoice without lines gets one row, so that it appears in the report.
    const entries = lines.length === 0 ? [undefined] : lines;
    const kind = this.skipped.kindOf(first, (path) => valuesAt(record, path), entries.length);
    if (kind === 'skipped') {
      this.reading.counts.rows += entries.length;
      this.reading.counts.rowsWithoutInvoice += entries.length;
      return;
    }
    const cells = cellsOf(record, undefined);
    const nif = normalNif(cells[NIF] ?? '');
    const ref = cells[REF]?.trim() ?? '';
    if (nif === null || ref === '') return this.#withoutInvoice(entries.length, identityFindings(first, cells));
    if (kind !== null) this.damage.add(first, [kind]);
    const problems = shapeProblems(record);
    for (const { line, path, message } of problems) {
      const row = first + (line ?? 0);
      this.damage.add(row, [rowError(row, path, 'json-shape', message)]);
    }
    if (lines.length === 0 && problems.every(({ path }) => path !== 'lines')) {
      this.damage.add(first, [rowError(first, 'lines', 'lines-missing', 'expected at least one line, found none')]);
    }
    for (const line of entries) {
      this.reading.counts.rows += 1;
      this.#observe(this.reading.counts.rows, line);
      this.reading.writer.add({
        row: this.reading.counts.rows,
        ref,
        nif,
        object: this.objects,
        cells: cellsOf(record, line),
      });
    }
  }

  /** A number in quotes is a text, and proves no more about the decimal mark than a CSV cell does. */
  #observe(row: number, line: JsonValue | undefined): void {
    if (!isObject(line)) return;
    for (const column of NUMBER_COLUMNS) {
      const value = line[column];
      const path = JSON_PATHS[column];
      if (value instanceof JsonNumber) this.evidence.observeToken(row, path, expandExponent(value.text) ?? value.text);
      else if (typeof value === 'string') this.evidence.observe(row, path, value);
    }
  }

  #withoutInvoice(rows: number, findings: readonly Finding[]): void {
    this.reading.counts.rows += rows;
    this.reading.counts.rowsWithoutInvoice += rows;
    this.reading.counts.rowsLost += rows;
    for (const finding of findings) this.reading.findings.add(finding);
  }
}

function identityFindings(row: number, cells: readonly (string | null)[]): readonly Finding[] {
  const problem = nifProblem(cells[NIF] ?? '');
  const findings = problem === null ? [] : [rowError(row, JSON_PATHS.merchant_nif, problem.code, problem.message)];
  if ((cells[REF]?.trim() ?? '') !== '') return findings;
  return [
    ...findings,
    rowError(row, JSON_PATHS.invoice_ref, 'reference-missing', "expected the invoice's reference, found none"),
  ];
}
