import { createHmac, timingSafeEqual } from 'node:crypto';
import { isMasked } from '../service/profile/hide-secret.ts';
import type { ServiceProfile } from '../service/profile/profile.ts';

/** The part of the service profile that says how deliveries prove their sender. */
export type SignatureShape = ServiceProfile['signature'];

/** A delivery before its signature is proved. */
export interface SignedDelivery {
  /** Names and values in turn, one pair for each header line, as Node's `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  /** The time of the check, in epoch milliseconds. */
  readonly now: number;
  /** The body as received, and unpacked if it was packed. */
  readonly bodies: readonly Uint8Array[];
}

/** Why a delivery does not prove its sender; `no-secret`: Lote knows no usable secret and so can verify nothing. */
export const SIGNATURE_REFUSALS = [
  'no-secret',
  'signature-missing',
  'signature-malformed',
  'signature-wrong',
  'signed-header-missing',
  'timestamp-unreadable',
  'timestamp-outside-tolerance',
] as const;

/** One of `SIGNATURE_REFUSALS`. */
export type SignatureRefusal = (typeof SIGNATURE_REFUSALS)[number];

/** Thrown to end a check. */
class Refused extends Error {
  readonly why: SignatureRefusal;

  constructor(why: SignatureRefusal) {
    super(why);
    this.why = why;
  }
}

/** The check of one receiver. */
export type SignatureCheck = ReturnType<typeof createSignatureCheck>;

/**
 * Makes the check of a service profile, which returns null, or why the sender of a delivery is not proved. Any of the
 * secrets may fit, so that an operator can replace a secret without a gap. `url` returns the registered address for
 * {url}. A packed body may be signed before or after packing: services and the proxies before them do either.
 */
export function createSignatureCheck(shape: SignatureShape, url: () => string) {
  const template = shape.signed.split(PLACEHOLDER).filter((part) => part !== '');
  const read = (delivery: SignedDelivery, secrets: readonly string[]): Signed => {
    const keys = signingKeys(secrets, shape);
    if (keys.length === 0) throw new Refused('no-secret');
    const parts = partsOf(headerLines(delivery.rawHeaders, shape.header), shape.separator);
    const digests = parts.map((part) => digestOf(part, shape)).filter((one) => one !== null);
    if (digests.length === 0) throw new Refused('signature-malformed');
    const values = { timestamp: readTimestamp(delivery, shape, parts), url: url() };
    return { keys, digests, content: template.map((part) => bytesOf(part, delivery, values)) };
  };
  return (delivery: SignedDelivery, secrets: readonly string[]): SignatureRefusal | null => {
    try {
      const signed = read(delivery, secrets);
      return delivery.bodies.some((body) => fits(signed, body, shape)) ? null : 'signature-wrong';
    } catch (error) {
      if (error instanceof Refused) return error.why;
      throw error;
    }
  };
}

interface Signed {
  readonly keys: readonly (string | Uint8Array)[];
  readonly digests: readonly Uint8Array[];
  /** The signed bytes in order; null stands for the body. */
  readonly content: readonly (Uint8Array | null)[];
}

/** Computes the HMAC as the profile says (interface section 6: over the raw body), and compares in constant time. */
function fits({ keys, digests, content }: Signed, raw: Uint8Array, { algorithm }: SignatureShape): boolean {
  let matches = 0;
  for (const key of keys) {
    const hmac = createHmac(algorithm, key);
    for (const part of content) hmac.update(part ?? raw);
    const expected = hmac.digest();
    // There is no early exit: the time taken must not show which secret is right.
    for (const digest of digests) matches += timingSafeEqual(expected, digest) ? 1 : 0;
  }
  return matches > 0;
}

const HEADER = 'header:';
const PART = 'part:';

const NUMBER = /^\d{1,13}(?:\.\d{1,9})?$/;
/** Requires a time zone: without it the time is ambiguous. */
const ISO = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?:[Zz]|([+-]\d{2}):?(\d{2}))$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A larger number is in milliseconds: in seconds it would be after the year 5138. */
const LARGEST_SECONDS = 100_000_000_000;

/**
 * Returns the text of the timestamp as received, or '' if the profile names no place for one. Refuses a time that does
 * not occur exactly once, cannot be read, or differs from now by more than the tolerance, in either direction.
 */
function readTimestamp(head: SignedDelivery, shape: SignatureShape, parts: readonly string[]): string {
  const { timestamp: place, toleranceSeconds } = shape;
  if (place === null) return '';
  const found = place.startsWith(HEADER)
    ? headerLines(head.rawHeaders, place.slice(HEADER.length))
    : partsWith(place.slice(PART.length), parts);
  const [text] = found;
  // With two timestamps, Lote and the signer could use different ones.
  const at = text === undefined || found.length > 1 ? null : timeOf(text.trim());
  if (text === undefined || at === null) throw new Refused('timestamp-unreadable');
  if (Math.abs(head.now - at) > toleranceSeconds * 1_000) throw new Refused('timestamp-outside-tolerance');
  return text;
}

function partsWith(prefix: string, parts: readonly string[]): readonly string[] {
  return parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));
}

/** Reads seconds, milliseconds, ISO 8601 with a zone, or an HTTP date as epoch milliseconds; null for other texts. */
export function timeOf(text: string): number | null {
  if (NUMBER.test(text)) {
    const number = Number(text);
    return number < LARGEST_SECONDS ? number * 1_000 : number;
  }
  const time = Date.parse(HTTP_DATE.test(text) ? text : isoOf(text));
  return Number.isNaN(time) ? null : time;
}

/** Returns the form that all engines read alike, or '' if the text is not ISO 8601. */
function isoOf(text: string): string {
  const [, date, time, hours, minutes] = ISO.exec(text) ?? [];
  if (date === undefined || time === undefined) return '';
  return `${date}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`;
}

const MAX_HEADER = 4_096;
/**
 * Returns the keys of some secrets by the profile. Omits secrets that are empty or cannot be decoded, and masks such as a
 * copied `********`: anyone could sign with them.
 */
export function signingKeys(
  secrets: readonly string[],
  { secret: how }: Pick<SignatureShape, 'secret'>,
): readonly (string | Uint8Array)[] {
  return secrets.map((secret) => keyOf(secret, how)).filter((key) => key !== null);
}

function keyOf(secret: string, { prefix, encoding }: SignatureShape['secret']): string | Uint8Array | null {
  if (isMasked(secret)) return null;
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  if (encoding === 'text') return text === '' ? null : text;
  return decoded(text, encoding);
}

const ENCODED = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  base64: /^[A-Za-z0-9+/]+(={0,2})$/,
  base64url: /^[A-Za-z0-9_-]+(={0,2})$/,
} as const;

/** Decodes a text; null if it is not in this encoding. Base64 must have its full padding, or none. */
function decoded(text: string, encoding: keyof typeof ENCODED): Buffer | null {
  const match = ENCODED[encoding].exec(text);
  if (match === null) return null;
  const isWhole = encoding === 'hex' || (match[1] === '' ? text.length % 4 !== 1 : text.length % 4 === 0);
  return isWhole ? Buffer.from(text, encoding) : null;
}

/** SHA-512 in hex has 128 characters and a prefix has at most 64, so no longer text can be right. */
const MAX_SIGNATURE = 256;

/** The most parts that Lote reads of a header: a few signatures, a timestamp, an id. */
const MAX_PARTS = 16;

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;

/** HTTP writes a parameter in quotes: `signature="…"`. */
const QUOTES = /^"|"$/g;

/** Splits the signature header into its parts. */
function partsOf(lines: readonly string[], separator: string): readonly string[] {
  // A proxy and this process could choose different ones of two headers.
  if (separator === '' && lines.length > 1) throw new Refused('signature-malformed');
  const text = lines.join(separator).trim();
  if (text === '') throw new Refused('signature-missing');
  if (text.length > (separator === '' ? MAX_SIGNATURE : MAX_HEADER)) throw new Refused('signature-malformed');
  const parts = separator === '' ? [text] : text.split(separator).map((part) => part.trim());
  return parts.filter((part) => part !== '').slice(0, MAX_PARTS);
}

function digestOf(part: string, { prefix, encoding, algorithm }: SignatureShape): Uint8Array | null {
  if (part.length > MAX_SIGNATURE || !part.startsWith(prefix)) return null;
  const bytes = decoded(part.slice(prefix.length).replaceAll(QUOTES, ''), encoding);
  return bytes?.byteLength === DIGEST_BYTES[algorithm] ? bytes : null;
}

const PLACEHOLDER = /(\{[^{}]*\})/;
const HEADER_PART = '{header:';

/**
 * Returns the bytes of one part of a template such as `{timestamp}.{body}`; null for the body. The timestamp is its text
 * as received.
 */
function bytesOf(
  part: string,
  head: SignedDelivery,
  { timestamp, url }: { readonly timestamp: string; readonly url: string },
): Uint8Array | null {
  if (part === '{body}') return null;
  // Node decodes a header's bytes as Latin-1; this restores the same bytes.
  if (part === '{timestamp}') return Buffer.from(timestamp, 'latin1');
  if (!part.startsWith(HEADER_PART)) return Buffer.from(part === '{url}' ? url : part);
  const [line, second] = headerLines(head.rawHeaders, part.slice(HEADER_PART.length, -1));
  if (line === undefined || second !== undefined) throw new Refused('signed-header-missing');
  return Buffer.from(line, 'latin1');
}

/** Returns each value of a header, line by line, because Node's own `headers` joins repeated lines. */
export function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? '';
    if (given.length === wanted.length && given.toLowerCase() === wanted) lines.push(rawHeaders[at + 1] ?? '');
  }
  return lines;
}
