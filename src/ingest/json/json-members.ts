import { READ_AS } from '../../domain/read-as.ts';
import { isPagingKey } from '../../domain/text/paging-signs.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import { decideEncoding } from '../encoding/decide-encoding.ts';
import { decodeChunks } from '../encoding/decode-chunks.ts';
import { fileChunks } from '../file-chunks.ts';
import type { IngestOptions } from '../ingest-options.ts';
import type { FileScan } from '../encoding/scan-file.ts';
import { JsonReader, JsonNumber, isObject, type JsonObject, type JsonValue } from './json-reader.ts';
import { z } from 'zod';

/** Path of each column in an invoice object. */
export const JSON_PATHS: Readonly<Record<Column, string>> = {
  invoice_ref: 'invoice_ref',
  merchant_nif: 'merchant.nif',
  merchant_legal_name: 'merchant.legal_name',
  merchant_email: 'merchant.email',
  customer_name: 'customer.name',
  customer_tax_id: 'customer.tax_id',
  currency: 'currency',
  description: 'lines[].description',
  quantity: 'lines[].quantity',
  unit_price: 'lines[].unit_price',
  tax_code: 'lines[].tax_code',
};

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
  return value === null || typeof value === 'boolean' || /^\d*$/u.test(textOf(value)[0] ?? '');
}

/** Returns all values at a path of an invoice object as texts; an object or a list becomes `[object]`. */
export function valuesAt(record: JsonValue, path: string): readonly string[] {
  const [first = '', ...rest] = path.startsWith('lines[].')
    ? ['lines', path.slice('lines[].'.length)]
    : path.split('.');
  const value = memberOf(record, first);
  if (Array.isArray(value) && path.startsWith('lines[].'))
    return value.flatMap((line) => textOf(memberOf(line, rest[0] ?? '')));
  if (OPENED.has(first) && rest.length > 0) return textOf(memberOf(value, rest.join('.')));
  return textOf(memberOf(record, path));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function textOf(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) return [''];
  if (value instanceof JsonNumber) return [value.text];
  return [typeof value === 'object' ? '[object]' : String(value)];
}

/** The names of Lote's columns in JSON, in column order. */
const OWN_PATHS: readonly string[] = COLUMNS.map((column) => JSON_PATHS[column]);

const MOST_RECORDS = 1_000;

/** The layout of a JSON file as a table: the paths of its members, and their values in its first objects. */
export interface JsonHead {
  readonly header: readonly string[];
  readonly unknown: readonly string[];
  readonly below: readonly (readonly string[])[];
}

/**
 * Reads the whole file, because a member may occur only in the last object.
 * @throws Refusal, LoteError `file-unreadable`
 */
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
  const header = [...OWN_PATHS, ...unknown];
  return { header, unknown, below: first.map((record) => header.map((member) => valuesAt(record, member)[0] ?? '')) };
}

/**
 * For each column: whether it belongs to the lines, and its one or two names. Split once, because every line of a file
 * uses it.
 */
const PLACES = COLUMNS.map((column) => {
  const [first = '', second = ''] = JSON_PATHS[column].split('.');
  return { isOfLine: first === 'lines[]', first, second };
});

const text = z.string().nullish();
/** Digits may be a JSON number; a number with a fraction or an exponent is not an identifier. */
const identifier = z
  .union([z.string(), z.instanceof(JsonNumber).refine((number) => /^\d+$/.test(number.text), 'expected digits')])
  .nullish();
const number = z.union([z.string(), z.instanceof(JsonNumber)]).nullish();
const Line = z.object({ description: text, quantity: number, unit_price: number, tax_code: text });
const InvoiceShape = z.object({
  invoice_ref: identifier,
  merchant: z.object({ nif: identifier, legal_name: text, email: text }).nullish(),
  customer: z.object({ name: text, tax_id: identifier }).nullish(),
  currency: text,
  lines: z.array(Line),
});

/** A value of a wrong type. `line` is null if the value is in the invoice's own members. */
export interface ShapeProblem {
  readonly line: number | null;
  readonly path: string;
  readonly message: string;
}

/** Returns the values of a wrong type in an invoice object. */
export function shapeProblems(record: JsonObject): readonly ShapeProblem[] {
  const parsed = InvoiceShape.safeParse(record);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path }) => {
    const line = path[0] === 'lines' && typeof path[1] === 'number' ? path[1] : null;
    const words = path
      .map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`))
      .join('')
      .slice(1);
    const found = kindOf(path.reduce<JsonValue | undefined>(step, record));
    return { line, path: words, message: `expected ${expectedAt(words)}, found ${found}` };
  });
}

/** Returns the cells of one line; a cell that is neither text nor number is null. */
export function cellsOf(record: JsonObject, line: JsonValue | undefined): readonly (string | null)[] {
  return PLACES.map(({ isOfLine, first, second }) => {
    if (isOfLine) return scalar(isObject(line) ? line[second] : undefined);
    const value = record[first];
    return scalar(second === '' ? value : isObject(value) ? value[second] : undefined);
  });
}

function scalar(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  return value instanceof JsonNumber ? value.text : null;
}

function step(value: JsonValue | undefined, part: PropertyKey): JsonValue | undefined {
  if (Array.isArray(value)) return typeof part === 'number' ? value[part] : undefined;
  return isObject(value) && typeof part === 'string' ? value[part] : undefined;
}

function expectedAt(path: string): string {
  if (path === 'lines') return 'a list of lines';
  if (path === 'lines[]' || path === 'merchant' || path === 'customer') return 'an object';
  if (path.endsWith('quantity') || path.endsWith('unit_price')) return 'a number';
  return path.endsWith('nif') || path.endsWith('tax_id') || path === 'invoice_ref' ? 'a text, or digits' : 'a text';
}

function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return `the number ${value.text.slice(0, 40)}`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
