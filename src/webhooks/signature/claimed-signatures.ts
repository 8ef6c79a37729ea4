import { headerLines } from '../header-lines.ts';
import { refuse, type Refused } from './refusal.ts';
import type { RequestHead, SignatureShape } from './request-head.ts';

/** What the signature header claims. */
export interface Claims {
  /** Digests of the right length; at least one. */
  readonly digests: readonly Uint8Array[];
  /** The parts of the header, without white space around them. */
  readonly parts: readonly string[];
}

/** SHA-512 in hex is 128 characters; with a prefix of at most 64 nothing longer can be right. */
const MAX_SIGNATURE = 256;

/** A header of several parts: a few signatures, a timestamp, an id. */
const MAX_HEADER = 4_096;
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
export function readClaims(head: RequestHead, shape: SignatureShape): Claims | Refused {
  const parts = partsOf(headerLines(head.rawHeaders, shape.header), shape.separator);
  if (!Array.isArray(parts)) return parts;
  const digests: Uint8Array[] = [];
  for (const part of parts) {
    const digest = digestOf(part, shape);
    if (digest !== null) digests.push(digest);
  }
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
