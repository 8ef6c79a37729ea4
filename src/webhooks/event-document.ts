import { parseExactJson } from '../service/profile/parse-exact-json.ts';
import { expressionOf, type Document, type Place } from '../service/profile/place.ts';
import type { ServiceProfile } from '../service/profile/profile.ts';

/** Reads bytes and header lines into the document that places are read from. */
export type ReadDocument = (raw: Uint8Array, rawHeaders: readonly string[]) => Document;

const HEADER = 'header:';
/** The decoder drops one; some services write several. */
const BYTE_ORDER_MARKS = /^\uFEFF+/;
/** After the check, the proof of the sender is removed. */
const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie'];

/** Keeps what the places need and no more: without a header among them no header at all. */
export function createReadDocument(places: readonly (Place | null)[], signatureHeader: string): ReadDocument {
  const headers = headersOf(places);
  const hidden = new Set([...SECRET_HEADERS, signatureHeader.toLowerCase()]);
  const needsText = listOf(places).some((place) => place === 'text' || expressionOf(place)?.includes('$text'));
  return (raw, rawHeaders) => {
    const text = textOf(raw);
    return {
      body: text === null ? undefined : parseJson(text),
      ...(needsText && text !== null && { text }),
      ...(headers !== null && { headers: keptHeaders(rawHeaders, headers, hidden) }),
    };
  };
}

/** Whether what stands at one of the places may depend on a header. */
export function readsHeaders(places: readonly (Place | null)[]): boolean {
  return headersOf(places) !== null;
}

/** The value of JSON; undefined: it is none. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** The text of UTF-8; null: it is none. */
export function textOf(raw: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw).replace(BYTE_ORDER_MARKS, '');
  } catch {
    return null;
  }
}

function listOf(places: readonly (Place | null)[]): readonly string[] {
  return places.flat().filter((place) => place !== null);
}

/** Names of the headers that places may read, in lower case; 'all' where an expression may ask for any; null: none. */
function headersOf(places: readonly (Place | null)[]): ReadonlySet<string> | 'all' | null {
  const list = listOf(places);
  if (list.some((place) => expressionOf(place)?.includes('$headers'))) return 'all';
  const named = list.filter((place) => place.startsWith(HEADER));
  return named.length === 0 ? null : new Set(named.map((place) => place.slice(HEADER.length).trim().toLowerCase()));
}

function keptHeaders(
  rawHeaders: readonly string[],
  wanted: ReadonlySet<string> | 'all',
  hidden: ReadonlySet<string>,
): Record<string, string | readonly string[]> {
  const kept = new Map<string, string | readonly string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (wanted === 'all' ? hidden.has(name) : !wanted.has(name)) continue;
    const before = kept.get(name);
    kept.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(kept);
}

const SIGNED_HEADER = /\{header:([^{}]+)\}/g;

/**
 * Whether headers that are not signed may decide what an event says of which invoice. Then a person who has seen one signed
 * delivery can send its body again with other headers. Only a signature proves contents; the other kinds of proof show
 * the secret itself.
 */
export function isReadFromUnsignedHeaders({
  event: { payload, items, type, invoiceId },
  signature: { kind, signed, timestamp },
}: Pick<ServiceProfile, 'event' | 'signature'>): boolean {
  if (kind !== 'hmac') return false;
  const read = headersOf([payload?.at ?? null, items, type, invoiceId]);
  if (read === null || read === 'all') return read === 'all';
  const names = [...signed.matchAll(SIGNED_HEADER)].map(([, name = '']) => name.toLowerCase());
  if (signed.includes('{timestamp}') && timestamp?.startsWith(HEADER) === true)
    names.push(timestamp.slice(HEADER.length).toLowerCase());
  return [...read].some((name) => !names.includes(name));
}
