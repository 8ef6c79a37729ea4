import { createHmac, timingSafeEqual } from 'node:crypto';

/** How deliveries are signed: part of the service profile. */
export interface SignatureShape {
  readonly header: string;
  readonly algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** Stands before the value, e.g. `sha256=`; empty when there is none. */
  readonly prefix: string;
}

export interface SignedDelivery {
  /** The body exactly as it was received. */
  readonly raw: Uint8Array;
  /** One entry per header line: a header that came twice has two. */
  readonly headerValues: readonly string[];
  /** Any of them may have signed, so that a secret can be replaced without a gap. */
  readonly secrets: readonly string[];
  readonly shape: SignatureShape;
}

/** Why a delivery is not accepted. `no-secret`: no secret is known, so that nothing can be verified. */
export type SignatureRefusal =
  | 'no-secret'
  | 'signature-missing'
  | 'signature-repeated'
  | 'signature-malformed'
  | 'signature-wrong';

export type SignatureVerdict = { readonly ok: true; readonly why: null } | Refused;

interface Refused {
  readonly ok: false;
  readonly why: SignatureRefusal;
}

const HOLDS = { ok: true, why: null } as const;

/** SHA-512 in hex is 128 characters; with a prefix of at most 64 nothing longer can be right. */
const MAX_HEADER = 256;

const ENCODED = { hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/]+={0,2}$/ } as const;

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;

/** Checks a delivery's HMAC over its raw bytes (interface section 6) in constant time, against every secret. */
export function verifySignature(delivery: SignedDelivery): SignatureVerdict {
  const claimed = claimedDigest(delivery);
  if (!(claimed instanceof Uint8Array)) return claimed;
  let matches = 0;
  for (const secret of usable(delivery.secrets)) {
    const expected = createHmac(delivery.shape.algorithm, secret).update(delivery.raw).digest();
    // No early exit: the time taken must not show which secret is the right one.
    matches += timingSafeEqual(expected, claimed) ? 1 : 0;
  }
  return matches > 0 ? HOLDS : { ok: false, why: 'signature-wrong' };
}

/** The part of the check that needs no body: what fails here is refused before a byte of the body is read. */
export function verifyHeader(delivery: Omit<SignedDelivery, 'raw'>): SignatureVerdict {
  const claimed = claimedDigest(delivery);
  return claimed instanceof Uint8Array ? HOLDS : claimed;
}

function claimedDigest({ headerValues, secrets, shape }: Omit<SignedDelivery, 'raw'>): Uint8Array | Refused {
  if (usable(secrets).length === 0) return { ok: false, why: 'no-secret' };
  const [value] = headerValues;
  if (value === undefined) return { ok: false, why: 'signature-missing' };
  // Which of two would be meant? A proxy and this process could choose differently.
  if (headerValues.length > 1) return { ok: false, why: 'signature-repeated' };
  const text = value.trim();
  if (text === '') return { ok: false, why: 'signature-missing' };
  const digits = text.slice(shape.prefix.length);
  const wellFormed = text.length <= MAX_HEADER && text.startsWith(shape.prefix) && ENCODED[shape.encoding].test(digits);
  const digest = wellFormed ? Buffer.from(digits, shape.encoding) : null;
  if (digest === null || digest.byteLength !== DIGEST_BYTES[shape.algorithm])
    return { ok: false, why: 'signature-malformed' };
  return digest;
}

/** Empty secrets are left out: everybody can sign with one. */
function usable(secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => secret !== '');
}
