import { FIELDS } from '../../domain/invoice.ts';
import { READ_AS } from '../../domain/read-as.ts';
import { isPagingKey } from '../../domain/text/paging-signs.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import { decideEncoding, decodeChunks } from '../encoding/decide-encoding.ts';
import { fileChunks } from '../file-chunks.ts';
import type { IngestOptions } from '../ingest-result.ts';
import type { FileScan } from '../encoding/scan-file.ts';
import { JsonReader, JsonNumber, isObject, type JsonObject, type JsonValue } from './json-reader.ts';

/** Path of each column in an invoice object. */
export const JSON_PATHS = Object.fromEntries(COLUMNS.map((column) => [column, FIELDS[column].path])) as Readonly<
  Record<Column, string>
>;

const KNOWN: ReadonlySet<string> = new Set([...Object.values(JSON_PATHS), 'lote_state', 'lote_reason', READ_AS]);
/** Members whose own members Lote reads, with the path prefix of those. */
const OPENED: ReadonlyMap<string, string> = new Map([
  ['merchant', 'merchant.'],
  ['customer', 'customer.'],
  ['lines', 'lines[].'],
]);
/** Only objects whose keys are data have more paths, and a person cannot confirm so many. */
const MOST_PATHS = 1_000;

/** Collects the paths of all members of a file's invoice objects, each once: the layout. */
export class JsonMembers {
  readonly unknown = new Set<string>();

  note(record: JsonValue): void {
    this.#noteIn('', record);
  }

  /** Notes members beside the list of invoices, except page counts, which `requireWhole` has checked. */
  noteEnvelope(envelope: JsonObject): void {
    for (const [name, value] of Object.entries(envelope)) if (!isPaging(name, value)) this.#add(`envelope.${name}`);
  }

  #noteIn(prefix: string, value: JsonValue | undefined): void {
    if (Array.isArray(value)) for (const one of value) this.#noteIn(prefix, one);
    if (!isObject(value)) return;
    for (const name in value) {
      const opened = prefix === '' ? OPENED.get(name) : undefined;
      if (opened !== undefined) this.#noteIn(opened, value[name]);
      else if (name.includes('.') || !KNOWN.has(prefix + name)) this.#add(prefix + name);
    }
  }

  #add(path: string): void {
    if (this.unknown.size < MOST_PATHS) this.unknown.add(path);
  }
}

/** Returns true for a page count, or for an object that contains only page counts, as `meta` and `links` often do. */
function isPaging(name: string, value: JsonValue | undefined): boolean {
  const members = isObject(value) ? Object.entries(value) : [];
  if (members.length > 0)
    return members.every(([inner, below]) => isPaging(inner, below) || (below === null && isPagingKey(name)));
  if (!isPagingKey(name)) return false;
  return value === null || typeof value === 'boolean' || /^\d*$/u.test(textOf(value));
}

/** Returns all values at a path of an invoice object as texts; an object or a list becomes `[object]`. */
export function valuesAt(record: JsonValue, path: string): readonly string[] {
  const at = path.indexOf('.');
  const owner = path.slice(0, Math.max(at, 0));
  const name = path.slice(at + 1);
  const lines = owner === 'lines[]' ? memberOf(record, 'lines') : undefined;
  if (Array.isArray(lines)) return lines.map((line) => textOf(memberOf(line, name)));
  return [textOf(OPENED.has(owner) ? memberOf(memberOf(record, owner), name) : memberOf(record, path))];
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'object' ? '[object]' : String(value);
}

const MOST_RECORDS = 1_000;

/** The layout of a JSON file as a table: the paths of its members, and their values in its first objects. */
export interface JsonHead {
  readonly header: readonly string[];
  readonly unknown: readonly string[];
  readonly below: readonly (readonly string[])[];
}

/** Reads the whole file: a member may occur only in its last object. @throws Refusal, LoteError `file-unreadable` */
export async function jsonHead(path: string, scan: FileScan, options: IngestOptions): Promise<JsonHead> {
  const reader = new JsonReader();
  const members = new JsonMembers();
  const first: JsonValue[] = [];
  const take = (records: readonly JsonValue[]): void => {
    for (const record of records) {
      members.note(record);
      if (first.length < MOST_RECORDS) first.push(record);
    }
  };
  for await (const chunk of decodeChunks(fileChunks(path), decideEncoding(scan, options))) take(reader.write(chunk));
  take(reader.end());
  members.noteEnvelope(reader.otherMembers);
  const unknown = [...members.unknown];
  const header = [...Object.values(JSON_PATHS), ...unknown];
  return { header, unknown, below: first.map((record) => header.map((member) => valuesAt(record, member)[0] ?? '')) };
}

/** Values that may be a JSON number; an identifier with a fraction or an exponent is none. */
const NUMBERS = { reference: /^\d+$/, 'tax-number': /^\d+$/, number: /./, text: undefined };
/** Each path split into its owner, if it has one, and its name: once, because every line of a file uses it. */
const PLACES = COLUMNS.map((column) => {
  const { path, role = 'text' } = FIELDS[column];
  const at = path.indexOf('.');
  return { path, owner: path.slice(0, Math.max(at, 0)), name: path.slice(at + 1), numbers: NUMBERS[role] };
});
type Place = (typeof PLACES)[number];

function valueOf(record: JsonObject, line: JsonValue | undefined, { owner, name }: Place): JsonValue | undefined {
  if (owner === '') return memberOf(record, name);
  return memberOf(owner === 'lines[]' ? line : memberOf(record, owner), name);
}

/** Returns the cells of one line; a cell that is neither text nor number is null. */
export function cellsOf(record: JsonObject, line: JsonValue | undefined): readonly (string | null)[] {
  return PLACES.map((place) => {
    const value = valueOf(record, line, place);
    if (typeof value === 'string') return value;
    return value instanceof JsonNumber ? value.text : null;
  });
}

/** A value of a wrong type. `line` is null if the value is in the invoice's own members. */
export interface ShapeProblem {
  readonly line: number | null;
  readonly path: string;
  readonly message: string;
}

/** Returns the values of a wrong type in an invoice object. */
export function shapeProblems(record: JsonObject): readonly ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  const wrong = (line: number | null, path: string, expected: string, found?: JsonValue): void => {
    problems.push({ line, path, message: `expected ${expected}, found ${kindOf(found)}` });
  };
  const expectCell = (line: number | null, place: Place, found?: JsonValue): void => {
    const { path, numbers } = place;
    const isNumber = found instanceof JsonNumber && numbers?.test(found.text) === true;
    const expected = numbers === undefined ? 'a text' : path.startsWith('lines') ? 'a number' : 'a text, or digits';
    if (!isNumber && typeof (found ?? '') !== 'string') wrong(line, path, expected, found);
  };
  const { merchant = null, customer = null, lines } = record;
  if (merchant !== null && !isObject(merchant)) wrong(null, 'merchant', 'an object', merchant);
  if (customer !== null && !isObject(customer)) wrong(null, 'customer', 'an object', customer);
  for (const place of PLACES) if (place.owner !== 'lines[]') expectCell(null, place, valueOf(record, undefined, place));
  if (!Array.isArray(lines)) wrong(null, 'lines', 'a list of lines', lines);
  for (const [at, line] of Array.isArray(lines) ? lines.entries() : []) {
    if (!isObject(line)) wrong(at, 'lines[]', 'an object', line);
    for (const place of PLACES) if (place.owner === 'lines[]') expectCell(at, place, valueOf(record, line, place));
  }
  return problems;
}

function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return `the number ${value.text.slice(0, 40)}`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
