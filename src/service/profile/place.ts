import { isJsonPointer, readPointer } from '../../domain/json-pointer.ts';

/**
 * A place in an answer, a delivery or an item of a list:
 *
 *   `/data/id`           a JSON Pointer into the body; `""` is the whole body
 *   `header:Location`    a header
 *   `text`               the body as text, if it is not JSON
 *   `jsonata:…`          a JSONata expression over the body, which may use `$headers`, `$status` and `$text`
 *
 * A list of places means the first place that has a value.
 */
export type Place = string | readonly string[];

/** The document from which places are read. */
export interface Document {
  /** Parsed JSON; undefined if the body is not JSON. */
  readonly body: unknown;
  /** Headers by lower-case name. Optional: the default is none. */
  readonly headers?: Headers;
  /** The beginning of a body that is not JSON. Absent if the body is JSON or empty. */
  readonly text?: string;
  /** HTTP status. Absent in a delivery or an item of a list. */
  readonly status?: number;
  /** Values of the expressions evaluated over this document. Optional: the default is none. */
  readonly computed?: ReadonlyMap<string, unknown>;
  /** An expression that exceeded its limits. Absent if no expression did. */
  readonly exceeded?: string;
}

/** Tells whether a status is from 200 to 299. */
export function is2xx({ status = 0 }: { readonly status?: number }): boolean {
  return status >= 200 && status <= 299;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const HEADER = 'header:';
const EXPRESSION = 'jsonata:';
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Tells whether a text is a valid header name (RFC 9110). */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

/** Tells whether a text is a valid place. Does not compile an expression. */
export function isPlace(text: string): boolean {
  if (text === 'text') return true;
  if (text.startsWith(HEADER)) return isHeaderName(text.slice(HEADER.length).trim());
  return expressionOf(text) === null ? isJsonPointer(text) : true;
}

/** Returns the expression of a place; null if the place has another form. */
export function expressionOf(place: string): string | null {
  return place.startsWith(EXPRESSION) ? place.slice(EXPRESSION.length).trim() : null;
}

/** Returns the value at a place; undefined if there is none. */
export function readPlace(document: Document, place: Place): unknown {
  if (typeof place === 'string') return readOne(document, place);
  for (const one of place) {
    const found = readOne(document, one);
    if (!isNothing(found)) return found;
  }
  return undefined;
}

/** Tells whether a value is one that services write for "none". */
export function isNothing(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** Formats a place for people. */
export function shownPlace(place: Place): string {
  return [place]
    .flat()
    .map((one) => (one === '' ? 'the top level' : one))
    .join(' or ');
}

function readOne(document: Document, place: string): unknown {
  if (place === 'text') return document.text;
  if (place.startsWith(HEADER)) return headerOf(document.headers, place.slice(HEADER.length).trim());
  const expression = expressionOf(place);
  return expression === null ? readPointer(document.body, place) : document.computed?.get(expression);
}

function headerOf(headers: Headers | undefined, name: string): string | undefined {
  const key = name.toLowerCase();
  const value = headers !== undefined && Object.hasOwn(headers, key) ? headers[key] : undefined;
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

/** Returns text, a number or true/false as trimmed text; null for any other value. */
export function wordAt(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const word = String(value).trim();
  return word === '' ? null : word;
}

/** Compares without case: services write `ISSUED`, `Issued` and `issued` for the same thing. */
export function sameWord(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Tells whether a value is one of the given words of the profile. */
export function isOneOf(value: unknown, words: readonly string[]): boolean {
  const found = wordAt(value);
  return found !== null && words.some((word) => sameWord(word, found));
}

/** A leading dot could be a step in a path, and a leading `=` a formula in a spreadsheet. */
const REST = /^[A-Za-z0-9_-][A-Za-z0-9_.~:=@+,-]{0,249}$/;
const ADDRESS = /^(?:https?:\/\/|\/)/i;
/** Programs write zero or a negative number for "none". A number of many digits is a text here. */
const NONE = /^(?:0+|-\d+)$/;
/** A longer text is neither an id nor the address of one. */
const LONGEST = 2_048;
const ANYWHERE = 'http://service.invalid';

/**
 * Reads an id of the service: a text, or the last step of an address or absolute path, or a whole number, which must be
 * at least 1 even as a text. Returns null if the value cannot be used. The id must begin with the prefix and go on with
 * 1 to 250 characters that can stand in a path, unchanged or encoded.
 */
export function readId(value: unknown, prefix: string): string | null {
  const id = textOf(value);
  return id?.startsWith(prefix) === true && !NONE.test(id) && REST.test(id.slice(prefix.length)) ? id : null;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== 'string' || value.length > LONGEST) return null;
  return ADDRESS.test(value) ? lastStep(value) : value;
}

/** Returns null for an address with a query: the id may be in the query, and the last step names a collection. */
function lastStep(address: string): string | null {
  if (!URL.canParse(address, ANYWHERE)) return null;
  const { pathname, search } = new URL(address, ANYWHERE);
  return search === '' ? (pathname.split('/').findLast((step) => step !== '') ?? null) : null;
}
