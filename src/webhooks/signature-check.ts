import { createHmac, timingSafeEqual, createHash } from 'node:crypto';
import type { Unpacked } from './read-body.ts';
import { isMasked } from '../service/profile/hide-secret.ts';
import type { ServiceProfile } from '../service/profile/profile.ts';

/** How deliveries prove where they come from: part of the service profile. */
export type SignatureShape = ServiceProfile['signature'];

/** What a delivery brings before its body. */
export interface RequestHead {
  /** Names and values in turn, one pair for each header line, as Node's `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  /** Epoch milliseconds at which it is judged. */
  readonly now: number;
  /** The step of the address after the receiver's own, decoded; undefined: the address ends there. */
  readonly pathSecret?: string | undefined;
}

/** Why a delivery does not prove where it comes from; `no-secret`: no usable secret is known, so that nothing can be verified. */
export const SIGNATURE_REFUSALS = [
  'no-secret',
  'signature-missing',
  'signature-repeated',
  'signature-malformed',
  'signature-wrong',
  'signature-wrong-packed',
  'signed-header-missing',
  'signed-header-repeated',
  'signed-url-unknown',
  'timestamp-unreadable',
  'timestamp-outside-tolerance',
] as const;

/** One of `SIGNATURE_REFUSALS`. */
export type SignatureRefusal = (typeof SIGNATURE_REFUSALS)[number];

/**
 * Checks where deliveries come from. Returns null, or why it is not proved. Any of the secrets may have signed, so that one can be replaced without a gap.
 */
export interface SignatureCheck {
  /** The part that needs no body: what fails here is refused before a byte of the body is read. */
  verifyHead(head: RequestHead, secrets: readonly string[]): SignatureRefusal | null;
  /** The whole check; `raw` is the body exactly as it was received. Without `unpacked` it is not packed. */
  verify(head: RequestHead, secrets: readonly string[], raw: Uint8Array, unpacked?: Unpacked): SignatureRefusal | null;
}

/** Ends a check. */
class Refused extends Error {
  readonly why: SignatureRefusal;

  constructor(why: SignatureRefusal) {
    super(why);
    this.why = why;
  }
}

function refusalOf(check: () => void): SignatureRefusal | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.why;
    throw error;
  }
}

/** Makes the check of a service profile. `url` gives the registered address, as {url} of the template; null: not known. */
export function createSignatureCheck({
  shape,
  url,
}: {
  readonly shape: SignatureShape;
  readonly url: () => string | null;
}): SignatureCheck {
  if (shape.kind !== 'hmac') {
    const verify: SignatureCheck['verifyHead'] = (head, secrets) =>
      refusalOf(() => verifySharedSecret(head, shape, secrets));
    return { verifyHead: verify, verify };
  }
  const template = shape.signed.split(PLACEHOLDER).filter((part) => part !== '');
  const read = (head: RequestHead, secrets: readonly string[]): Signed => {
    const keys = signingKeys(secrets, shape);
    if (keys.length === 0) throw new Refused('no-secret');
    const parts = partsOf(headerLines(head.rawHeaders, shape.header), shape.separator);
    const digests = parts.map((part) => digestOf(part, shape)).filter((one) => one !== null);
    if (digests.length === 0) throw new Refused('signature-malformed');
    const values = { timestamp: readTimestamp(head, shape, parts), url: url() };
    return { keys, digests, content: template.map((part) => bytesOf(part, head, values)) };
  };
  return {
    verifyHead: (head, secrets) => refusalOf(() => void read(head, secrets)),
    verify: (head, secrets, raw, unpacked = { kind: 'plain' }) =>
      refusalOf(() => {
        const signed = read(head, secrets);
        // A packed body may be signed as it came or as it is unpacked: services and the proxies before them do either.
        const bodies = unpacked.kind === 'unpacked' ? [raw, unpacked.bytes] : [raw];
        if (bodies.some((body) => fits(signed, body, shape))) return;
        throw new Refused(unpacked.kind === 'plain' ? 'signature-wrong' : 'signature-wrong-packed');
      }),
  };
}

interface Signed {
  readonly keys: readonly (string | Uint8Array)[];
  readonly digests: readonly Uint8Array[];
  /** The bytes around and between the bodies, in order; null stands for the body. */
  readonly content: readonly (Uint8Array | null)[];
}

/** HMAC over what the profile says (interface section 6: the raw body), compared in constant time. */
function fits({ keys, digests, content }: Signed, raw: Uint8Array, { algorithm }: SignatureShape): boolean {
  let matches = 0;
  for (const key of keys) {
    const hmac = createHmac(algorithm, key);
    for (const part of content) hmac.update(part ?? raw);
    const expected = hmac.digest();
    // No early exit: the time taken must not show which secret is the right one.
    for (const digest of digests) matches += timingSafeEqual(expected, digest) ? 1 : 0;
  }
  return matches > 0;
}

const HEADER = 'header:';
const PART = 'part:';

const NUMBER = /^\d{1,13}(?:\.\d{1,9})?$/;
/** Without a zone it is not known which time is meant. */
const ISO = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?:[Zz]|([+-]\d{2}):?(\d{2}))$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A number beyond it is of milliseconds: as seconds it would be in the year 5138. */
const LARGEST_SECONDS = 100_000_000_000;

/**
 * The text of the timestamp as it came, '' when the profile names none. Refuses a time that stands there not exactly
 * once, cannot be read, or is further from now than the tolerance, in either direction.
 */
function readTimestamp(head: RequestHead, shape: SignatureShape, parts: readonly string[]): string {
  const { timestamp: place, toleranceSeconds } = shape;
  if (place === null) return '';
  const found = place.startsWith(HEADER)
    ? headerLines(head.rawHeaders, place.slice(HEADER.length))
    : partsWith(place.slice(PART.length), parts);
  const [text] = found;
  // Two of them could be read differently here and by who signed.
  const at = text === undefined || found.length > 1 ? null : timeOf(text.trim());
  if (text === undefined || at === null) throw new Refused('timestamp-unreadable');
  if (Math.abs(head.now - at) > toleranceSeconds * 1_000) throw new Refused('timestamp-outside-tolerance');
  return text;
}

function partsWith(prefix: string, parts: readonly string[]): readonly string[] {
  return parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));
}

/** Epoch milliseconds of a timestamp in seconds, milliseconds, ISO 8601 with a zone, or as in HTTP; null: it is none. */
export function timeOf(text: string): number | null {
  if (NUMBER.test(text)) {
    const number = Number(text);
    return number < LARGEST_SECONDS ? number * 1_000 : number;
  }
  const time = Date.parse(HTTP_DATE.test(text) ? text : isoOf(text));
  return Number.isNaN(time) ? null : time;
}

/** The form that every engine reads alike; '' for what is no ISO 8601. */
function isoOf(text: string): string {
  const [, date, time, hours, minutes] = ISO.exec(text) ?? [];
  if (date === undefined || time === undefined) return '';
  return `${date}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`;
}

const MAX_HEADER = 4_096;
const BASIC = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i;
const COLON = 0x3a;

/** Checks a delivery that shows the secret itself, in constant time, against every secret; no body is needed. */
function verifySharedSecret(head: RequestHead, shape: SignatureShape, secrets: readonly string[]): void {
  const usable = usableSecrets(secrets);
  if (usable.length === 0) throw new Refused('no-secret');
  const found = digest(shownSecret(head, shape));
  let matches = 0;
  // No early exit: the time taken must not show which secret is the right one. Digests have the same length.
  for (const secret of usable) matches += timingSafeEqual(digest(secret), found) ? 1 : 0;
  if (matches === 0) throw new Refused('signature-wrong');
}

function digest(secret: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(secret).digest();
}

function shownSecret({ rawHeaders, pathSecret = '' }: RequestHead, shape: SignatureShape): Uint8Array {
  const lines =
    shape.kind === 'path'
      ? [pathSecret]
      : headerLines(rawHeaders, shape.kind === 'basic' ? 'Authorization' : shape.header);
  if (lines.length > 1) throw new Refused('signature-repeated');
  const text = shape.kind === 'path' ? pathSecret : (lines[0] ?? '').trim();
  if (text === '') throw new Refused('signature-missing');
  if (shape.kind === 'path') return Buffer.from(text);
  if (text.length > MAX_HEADER) throw new Refused('signature-malformed');
  if (shape.kind === 'basic') return passwordIn(text);
  if (!text.startsWith(shape.prefix) || text.length === shape.prefix.length) throw new Refused('signature-malformed');
  // Node reads a header's bytes as Latin-1; this gives the same bytes back.
  return Buffer.from(text.slice(shape.prefix.length), 'latin1');
}

function passwordIn(text: string): Uint8Array {
  const pair = Buffer.from(BASIC.exec(text)?.[1] ?? '', 'base64');
  const colon = pair.indexOf(COLON);
  if (colon < 0) throw new Refused('signature-malformed');
  return pair.subarray(colon + 1);
}

/** The keys of some secrets by the profile. Those that cannot be decoded are left out. */
export function signingKeys(
  secrets: readonly string[],
  { secret: how }: Pick<SignatureShape, 'secret'>,
): readonly (string | Uint8Array)[] {
  return usableSecrets(secrets)
    .map((secret) => keyOf(secret, how))
    .filter((key) => key !== null);
}

/** Leaves out empty secrets and masked ones, such as a copied `********`: everyone could sign with them. */
function usableSecrets(secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => secret !== '' && !isMasked(secret));
}

function keyOf(secret: string, { prefix, encoding }: SignatureShape['secret']): string | Uint8Array | null {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  if (encoding === 'text') return text === '' ? null : text;
  return decoded(text, encoding);
}

const ENCODED = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  base64: /^[A-Za-z0-9+/]+(={0,2})$/,
  base64url: /^[A-Za-z0-9_-]+(={0,2})$/,
} as const;

/** The bytes of a text in an encoding; null: it is not written in it. Base64 is padded whole, or not at all. */
function decoded(text: string, encoding: keyof typeof ENCODED): Buffer | null {
  const match = ENCODED[encoding].exec(text);
  if (match === null) return null;
  const isWhole = encoding === 'hex' || (match[1] === '' ? text.length % 4 !== 1 : text.length % 4 === 0);
  return isWhole ? Buffer.from(text, encoding) : null;
}

/** SHA-512 in hex is 128 characters; with a prefix of at most 64 nothing longer can be right. */
const MAX_SIGNATURE = 256;

/** A header of several parts: a few signatures, a timestamp, an id. */
const MAX_PARTS = 16;

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;

/** HTTP's own way of writing a parameter: `signature="…"`. */
const QUOTES = /^"|"$/g;

/** The parts of the signature header. */
function partsOf(lines: readonly string[], separator: string): readonly string[] {
  // Which of two would be meant? A proxy and this process could choose differently.
  if (separator === '' && lines.length > 1) throw new Refused('signature-repeated');
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

interface SignedValues {
  /** As it came. */
  readonly timestamp: string;
  /** The registered address; null: not known. */
  readonly url: string | null;
}

const PLACEHOLDER = /(\{[^{}]*\})/;
const HEADER_PART = '{header:';

/** The bytes of one part of a template such as `{timestamp}.{body}`; null for the body, which is not read yet. */
function bytesOf(part: string, head: RequestHead, { timestamp, url }: SignedValues): Uint8Array | null {
  if (part === '{body}') return null;
  // Node reads a header's bytes as Latin-1; this gives the same bytes back.
  if (part === '{timestamp}') return Buffer.from(timestamp, 'latin1');
  if (part === '{url}' && url === null) throw new Refused('signed-url-unknown');
  if (!part.startsWith(HEADER_PART)) return Buffer.from(part === '{url}' ? (url ?? '') : part);
  const [line, second] = headerLines(head.rawHeaders, part.slice(HEADER_PART.length, -1));
  if (line === undefined) throw new Refused('signed-header-missing');
  if (second !== undefined) throw new Refused('signed-header-repeated');
  return Buffer.from(line, 'latin1');
}

/** Every value of a header, line by line: Node's own `headers` joins repeated lines into one. */
export function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? '';
    if (given.length === wanted.length && given.toLowerCase() === wanted) lines.push(rawHeaders[at + 1] ?? '');
  }
  return lines;
}
