import { timeOf } from './timestamp.ts';
import type { SignatureShape } from './request-head.ts';

/** A part of a header that may be a signature. */
export interface PossibleSignature extends Pick<
  SignatureShape,
  'header' | 'separator' | 'prefix' | 'encoding' | 'algorithm'
> {
  readonly digest: Uint8Array;
  /** Places of the profile at which a time of signing stands: parts of this header. */
  readonly times: readonly Time[];
}

/** Where a time of signing may stand, as `signature.timestamp` writes it, and its text. */
export interface Time {
  readonly place: string;
  readonly text: string;
}

/** Headers of transport and of the client: none of them signs. */
const OTHERS =
  /^(?:host|connection|content-(?:length|type|encoding)|transfer-encoding|user-agent|accept(?:-.*)?|cookie|x-forwarded-.*|forwarded|via|traceparent|tracestate|cf-.*)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Names of headers that hold the id of a delivery, or what it is about. */
const IDENTIFYING = /id$|id-|nonce|topic|event|delivery/i;

const MOST_HEADERS = 60;
const LONGEST_HEADER = 4_096;
const MOST_PARTS = 16;
const MOST_SIGNATURES = 24;
const MOST_TIMES = 3;
const MOST_IDS = 4;
const LONGEST_ID = 200;

/** A space first: a comma may stand inside of a part, as in `v1,SIGNATURE`. */
const SEPARATORS = ['', ' ', ',', ';'] as const;
const PREFIXED = /^([A-Za-z][\w.-]{0,15}[=,:])(.+)$/;
/** After each of them a signature may begin. */
const PREFIX_ENDS = /[=,:_.-]/g;
const LONGEST_PREFIX = 16;
const ALGORITHMS = { 20: 'sha1', 32: 'sha256', 48: 'sha384', 64: 'sha512' } as const;
const ENCODINGS = [
  ['hex', /^(?:[0-9a-f]{2})+$/i],
  ['base64', /^[A-Za-z0-9+/]+={0,2}$/],
  ['base64url', /^[A-Za-z0-9_-]+={0,2}$/],
] as const;

/** A header that stands once. */
export interface SingleHeader {
  readonly name: string;
  readonly text: string;
}

/** The headers that may have to do with a signature; those that stand several times as one text for each line, joined with `, `. */
export function signingHeaders(rawHeaders: readonly string[]): readonly SingleHeader[] {
  const found = new Map<string, SingleHeader>();
  for (let at = 0; at + 1 < rawHeaders.length && found.size < MOST_HEADERS; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = (rawHeaders[at + 1] ?? '').trim();
    if (OTHERS.test(name) || !HEADER_NAME.test(name) || value === '' || value.length > LONGEST_HEADER) continue;
    const before = found.get(name.toLowerCase());
    found.set(name.toLowerCase(), { name, text: before === undefined ? value : `${before.text}, ${value}` });
  }
  return [...found.values()];
}

/** What may be a signature in the headers, the plainest reading first; at most 24. */
export function possibleSignatures(headers: readonly SingleHeader[]): readonly PossibleSignature[] {
  const found: PossibleSignature[] = [];
  for (const separator of SEPARATORS) {
    for (const { name: header, text } of headers) {
      if (separator !== '' && !text.includes(separator)) continue;
      const parts = separator === '' ? [text] : text.split(separator).slice(0, MOST_PARTS);
      const trimmed = parts.map((part) => part.trim());
      const times = separator === '' ? [] : partTimes(trimmed);
      for (const part of trimmed)
        for (const digest of digestsOf(part)) found.push({ header, separator, times, ...digest });
    }
  }
  return found.slice(0, MOST_SIGNATURES);
}

/** Headers that hold nothing but a time. */
export function headerTimes(headers: readonly SingleHeader[]): readonly Time[] {
  return headers
    .filter(({ text }) => isTime(text))
    .slice(0, MOST_TIMES)
    .map(({ name, text }) => ({ place: `header:${name}`, text }));
}

/** Headers that may name the delivery. */
export function headerIds(headers: readonly SingleHeader[]): readonly string[] {
  return headers
    .filter(({ name, text }) => IDENTIFYING.test(name) && text.length <= LONGEST_ID)
    .slice(0, MOST_IDS)
    .map(({ name }) => name);
}

function partTimes(parts: readonly string[]): readonly Time[] {
  return parts.flatMap((part) => {
    const [, prefix, text] = PREFIXED.exec(part) ?? [];
    return prefix !== undefined && text !== undefined && isTime(text) ? [{ place: `part:${prefix}`, text }] : [];
  });
}

const EARLIEST = Date.UTC(2000, 0);
const LATEST = Date.UTC(2100, 0);

function isTime(text: string): boolean {
  const at = text.length > 40 ? null : timeOf(text);
  return at !== null && at >= EARLIEST && at < LATEST;
}

type Digest = Pick<PossibleSignature, 'prefix' | 'encoding' | 'algorithm' | 'digest'>;

function digestsOf(part: string): readonly Digest[] {
  return prefixesOf(part).flatMap((prefix) => {
    const digits = part.slice(prefix.length);
    const fitting = ENCODINGS.filter(([, pattern]) => digits.length <= 256 && pattern.test(digits));
    return fitting.flatMap(([encoding]): Digest[] => {
      const digest = Buffer.from(digits, encoding);
      const algorithm = ALGORITHMS[digest.byteLength as keyof typeof ALGORITHMS] as Digest['algorithm'] | undefined;
      return algorithm === undefined ? [] : [{ prefix, encoding, algorithm, digest }];
    });
  });
}

function prefixesOf(part: string): readonly string[] {
  const ends = [...part.slice(0, LONGEST_PREFIX).matchAll(PREFIX_ENDS)].map(({ index }) => part.slice(0, index + 1));
  return ['', ...ends.filter((prefix) => /^[A-Za-z][A-Za-z0-9]*[^A-Za-z0-9]$/.test(prefix))];
}
