import { isJsonPointer, readPointer } from '../../domain/json-pointer.ts';

/**
 * Where something stands in an answer, a delivery or an item of a list:
 *
 *   `/data/id`           a JSON Pointer into the body; `""` is the whole body
 *   `header:Location`    a header
 *   `text`               the body as text, when it is no JSON
 *   `jsonata:…`          a JSONata expression over the body; `$headers`, `$status` and `$text` are known in it
 *
 * A list of them means: the first at which something stands.
 */
export type Place = string | readonly string[];

/** What places are read from. */
export interface Document {
  /** Parsed JSON; undefined: the body is no JSON. */
  readonly body: unknown;
  /** By lower-case name; left out: none. */
  readonly headers?: Headers;
  /** The beginning of a body that is no JSON; left out: it is JSON, or empty. */
  readonly text?: string;
  /** HTTP status; left out: a delivery, or an item of a list. */
  readonly status?: number;
  /** Values of the expressions that were evaluated over this document; left out: none. */
  readonly computed?: ReadonlyMap<string, unknown>;
  /** An expression that exceeded its limits; left out: none did. */
  readonly exceeded?: string;
}

/** Whether a status says that a request was carried out. */
export function is2xx({ status = 0 }: { readonly status?: number }): boolean {
  return status >= 200 && status <= 299;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const HEADER = 'header:';
const EXPRESSION = 'jsonata:';
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** True for a header's name (RFC 9110). */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

/** Whether one place, not a list of them, is written as one; the expression itself is not compiled here. */
export function isPlace(text: string): boolean {
  if (text === 'text') return true;
  if (text.startsWith(HEADER)) return isHeaderName(text.slice(HEADER.length).trim());
  return expressionOf(text) === null ? isJsonPointer(text) : true;
}

/** The expression of a place; null: the place is none. */
export function expressionOf(place: string): string | null {
  return place.startsWith(EXPRESSION) ? place.slice(EXPRESSION.length).trim() : null;
}

/** What stands at a place; undefined: nothing does. */
export function readPlace(document: Document, place: Place): unknown {
  if (typeof place === 'string') return readOne(document, place);
  for (const one of place) {
    const found = readOne(document, one);
    if (!isNothing(found)) return found;
  }
  return undefined;
}

/** Whether a value is what services write where there is none. */
export function isNothing(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** A place as people read it. */
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

/** The word at a place: text, number or true/false as trimmed text; null: none of them. */
export function wordAt(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const word = String(value).trim();
  return word === '' ? null : word;
}

/** Services write `ISSUED`, `Issued` and `issued` for the same thing. */
export function sameWord(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Whether one of the words of the profile stands there. */
export function isOneOf(value: unknown, words: readonly string[]): boolean {
  const found = wordAt(value);
  return found !== null && words.some((word) => sameWord(word, found));
}

/** A dot at its beginning would be a step in a path, `=` one in a spreadsheet. */
const REST = /^[A-Za-z0-9_-][A-Za-z0-9_.~:=@+,-]{0,249}$/;
const ADDRESS = /^(?:https?:\/\/|\/)/i;
/** Zero and less are what programs write for "none"; as a text, too, for a number of many digits comes as one. */
const NONE = /^(?:0+|-\d+)$/;
/** A longer text is no id and no address of one. */
const LONGEST = 2_048;
const ANYWHERE = 'http://service.invalid';

/**
 * An id of the service: text, a whole number from 1, or the last step of an address or absolute path; null: it cannot be used.
 * A text that is a whole number is one from 1, too.
 * It must begin with the prefix and go on with 1 to 250 characters that stand in a path as they are, or encoded.
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

/** Where an address has a query, the id may stand there, and the last step is that of a collection. */
function lastStep(address: string): string | null {
  if (!URL.canParse(address, ANYWHERE)) return null;
  const { pathname, search } = new URL(address, ANYWHERE);
  return search === '' ? (pathname.split('/').findLast((step) => step !== '') ?? null) : null;
}
