import { createHmac, timingSafeEqual, createHash } from 'node:crypto';
import type { RequestHead, SignatureRefusal, SignatureShape } from './request-head.ts';
import type { Unpacked } from './read-body.ts';
import { isMasked } from '../service/profile/hide-secret.ts';

/**
 * Checks where deliveries come from: null, or why it is not proved. Any of the secrets may have signed, so that one can be replaced without a gap.
 */
export interface SignatureCheck {
  /** The part that needs no body: what fails here is refused before a byte of the body is read. */
  verifyHead(head: RequestHead, secrets: readonly string[]): SignatureRefusal | null;
  /** The whole check; `raw` is the body exactly as it was received. Left out: it is not packed. */
  verify(head: RequestHead, secrets: readonly string[], raw: Uint8Array, unpacked?: Unpacked): SignatureRefusal | null;
}

interface Refused {
  readonly why: SignatureRefusal;
}

function refuse(why: SignatureRefusal): Refused {
  return { why };
}

/** What a check is made of. */
export interface SignatureCheckParts {
  readonly shape: SignatureShape;
  /** The registered address, as {url} of the template; null: not known. */
  readonly url: () => string | null;
}

/** Makes the check of a service profile. */
export function createSignatureCheck(parts: SignatureCheckParts): SignatureCheck {
  if (parts.shape.kind === 'hmac') return createHmacCheck(parts);
  const verify: SignatureCheck['verifyHead'] = (head, secrets) => verifySharedSecret(head, parts.shape, secrets);
  return { verifyHead: verify, verify };
}

interface Signed {
  readonly keys: readonly (string | Uint8Array)[];
  readonly digests: readonly Uint8Array[];
  readonly content: SignedContent;
}

/** HMAC over what the profile says (interface section 6: the raw body), compared in constant time. */
function createHmacCheck({ shape, url }: SignatureCheckParts): SignatureCheck {
  const template = shape.signed.split(PLACEHOLDER).filter((part) => part !== '');

  function read(head: RequestHead, secrets: readonly string[]): Signed | Refused {
    const keys = signingKeys(secrets, shape);
    if (keys.length === 0) return refuse('no-secret');
    const claims = readClaims(head, shape);
    if ('why' in claims) return claims;
    const timestamp = readTimestamp(head, shape, claims.parts);
    if (typeof timestamp !== 'string') return timestamp;
    const content = contentOf(template, head, { timestamp, url: url() });
    return 'why' in content ? content : { keys, digests: claims.digests, content };
  }

  return {
    verifyHead(head, secrets) {
      const signed = read(head, secrets);
      return 'why' in signed ? signed.why : null;
    },
    verify(head, secrets, raw, unpacked = { kind: 'plain' }) {
      const signed = read(head, secrets);
      if ('why' in signed) return signed.why;
      // A packed body may be signed as it came or as it is unpacked: services and the proxies before them do either.
      const bodies = unpacked.kind === 'unpacked' ? [raw, unpacked.bytes] : [raw];
      if (bodies.some((body) => fits(signed, body, shape))) return null;
      return unpacked.kind === 'plain' ? 'signature-wrong' : 'signature-wrong-packed';
    },
  };
}

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
 * The text of the timestamp as it came, '' when the profile names none; a refusal when it stands there not exactly
 * once, cannot be read, or is further from now than the tolerance, in either direction.
 */
function readTimestamp(head: RequestHead, shape: SignatureShape, parts: readonly string[]): string | Refused {
  const { timestamp: place, toleranceSeconds } = shape;
  if (place === null) return '';
  const found = place.startsWith(HEADER)
    ? headerLines(head.rawHeaders, place.slice(HEADER.length))
    : partsWith(place.slice(PART.length), parts);
  const [text] = found;
  // Two of them could be read differently here and by who signed.
  if (text === undefined || found.length > 1) return refuse('timestamp-unreadable');
  const at = timeOf(text.trim());
  if (at === null) return refuse('timestamp-unreadable');
  return Math.abs(head.now - at) > toleranceSeconds * 1_000 ? refuse('timestamp-outside-tolerance') : text;
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
function verifySharedSecret(
  head: RequestHead,
  shape: SignatureShape,
  secrets: readonly string[],
): SignatureRefusal | null {
  const usable = usableSecrets(secrets);
  if (usable.length === 0) return 'no-secret';
  const shown = shownSecret(head, shape);
  if (!(shown instanceof Uint8Array)) return shown.why;
  const found = digest(shown);
  let matches = 0;
  // No early exit: the time taken must not show which secret is the right one. Digests have the same length.
  for (const secret of usable) matches += timingSafeEqual(digest(secret), found) ? 1 : 0;
  return matches > 0 ? null : 'signature-wrong';
}

function digest(secret: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(secret).digest();
}

function shownSecret(head: RequestHead, shape: SignatureShape): Uint8Array | Refused {
  if (shape.kind === 'path')
    return head.pathSecret === undefined || head.pathSecret === ''
      ? refuse('signature-missing')
      : Buffer.from(head.pathSecret);
  const lines = headerLines(head.rawHeaders, shape.kind === 'basic' ? 'Authorization' : shape.header);
  if (lines.length > 1) return refuse('signature-repeated');
  const text = (lines[0] ?? '').trim();
  if (text === '') return refuse('signature-missing');
  if (text.length > MAX_HEADER) return refuse('signature-malformed');
  return shape.kind === 'basic' ? passwordIn(text) : tokenIn(text, shape.prefix);
}

/** Node reads a header's bytes as Latin-1; this gives the same bytes back. */
function tokenIn(text: string, prefix: string): Uint8Array | Refused {
  return text.startsWith(prefix) && text.length > prefix.length
    ? Buffer.from(text.slice(prefix.length), 'latin1')
    : refuse('signature-malformed');
}

function passwordIn(text: string): Uint8Array | Refused {
  const encoded = BASIC.exec(text)?.[1];
  if (encoded === undefined) return refuse('signature-malformed');
  const pair = Buffer.from(encoded, 'base64');
  const colon = pair.indexOf(COLON);
  return colon < 0 ? refuse('signature-malformed') : pair.subarray(colon + 1);
}

const HEX = /^(?:[0-9a-f]{2})+$/i;
const ALPHABET = { base64: /^[A-Za-z0-9+/]+(={0,2})$/, base64url: /^[A-Za-z0-9_-]+(={0,2})$/ } as const;

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
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : null;
  const padding = ALPHABET[encoding].exec(text)?.[1]?.length;
  if (padding === undefined) return null;
  const whole = padding === 0 ? text.length % 4 !== 1 : text.length % 4 === 0;
  return whole ? Buffer.from(text, encoding) : null;
}

/** SHA-512 in hex is 128 characters; with a prefix of at most 64 nothing longer can be right. */
const MAX_SIGNATURE = 256;

/** A header of several parts: a few signatures, a timestamp, an id. */
const MAX_PARTS = 16;

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;

const ENCODED = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
} as const;

/** HTTP's own way of writing a parameter: `signature="…"`. */
const QUOTES = /^"|"$/g;

/** Reads the signature header; a header whose parts hold no signature of the profile's form is malformed. */
function readClaims(
  head: RequestHead,
  shape: SignatureShape,
): (Pick<Signed, 'digests'> & { parts: string[] }) | Refused {
  const parts = partsOf(headerLines(head.rawHeaders, shape.header), shape.separator);
  if (!Array.isArray(parts)) return parts;
  const digests = parts.map((part) => digestOf(part, shape)).filter((one) => one !== null);
  return digests.length === 0 ? refuse('signature-malformed') : { digests, parts };
}

function partsOf(lines: readonly string[], separator: string): string[] | Refused {
  // Which of two would be meant? A proxy and this process could choose differently.
  if (separator === '' && lines.length > 1) return refuse('signature-repeated');
  const text = lines.join(separator).trim();
  if (text === '') return refuse('signature-missing');
  if (separator === '') return text.length > MAX_SIGNATURE ? refuse('signature-malformed') : [text];
  if (text.length > MAX_HEADER) return refuse('signature-malformed');
  const parts = text.split(separator).map((part) => part.trim());
  return parts.filter((part) => part !== '').slice(0, MAX_PARTS);
}

function digestOf(part: string, { prefix, encoding, algorithm }: SignatureShape): Uint8Array | null {
  if (part.length > MAX_SIGNATURE || !part.startsWith(prefix)) return null;
  const digits = part.slice(prefix.length).replaceAll(QUOTES, '');
  if (!ENCODED[encoding].test(digits)) return null;
  const digest = Buffer.from(digits, encoding);
  return digest.byteLength === DIGEST_BYTES[algorithm] ? digest : null;
}

/** The bytes around and between the bodies, in order; null stands for the body. */
type SignedContent = readonly (Uint8Array | null)[];

interface SignedValues {
  /** As it came. */
  readonly timestamp: string;
  /** The registered address; null: not known. */
  readonly url: string | null;
}

const PLACEHOLDER = /(\{[^{}]*\})/;
const HEADER_PART = '{header:';

/** Puts what came into the parts of a template such as `{timestamp}.{body}`; all but the body, which is not read yet. */
function contentOf(template: readonly string[], head: RequestHead, values: SignedValues): SignedContent | Refused {
  const content: (Uint8Array | null)[] = [];
  for (const part of template) {
    const bytes = bytesOf(part, head, values);
    if (bytes !== null && !(bytes instanceof Uint8Array)) return bytes;
    content.push(bytes);
  }
  return content;
}

function bytesOf(part: string, head: RequestHead, { timestamp, url }: SignedValues): Uint8Array | null | Refused {
  if (part === '{body}') return null;
  // Node reads a header's bytes as Latin-1; this gives the same bytes back.
  if (part === '{timestamp}') return Buffer.from(timestamp, 'latin1');
  if (part === '{url}') return url === null ? refuse('signed-url-unknown') : Buffer.from(url);
  if (!part.startsWith(HEADER_PART)) return Buffer.from(part);
  const lines = headerLines(head.rawHeaders, part.slice(HEADER_PART.length, -1));
  const [line] = lines;
  if (line === undefined) return refuse('signed-header-missing');
  return lines.length > 1 ? refuse('signed-header-repeated') : Buffer.from(line, 'latin1');
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
