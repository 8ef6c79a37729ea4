/** Why a delivery does not prove where it comes from; `no-secret`: no usable secret is known, so that nothing can be verified. */
export const SIGNATURE_REFUSALS = [
  'no-secret',
  'signature-missing',
  'signature-repeated',
  'signature-malformed',
  'signature-wrong',
  'signed-header-missing',
  'signed-header-repeated',
  'signed-url-unknown',
  'timestamp-unreadable',
  'timestamp-outside-tolerance',
] as const;

/** One of `SIGNATURE_REFUSALS`. */
export type SignatureRefusal = (typeof SIGNATURE_REFUSALS)[number];

/** A delivery that is not accepted, and why. */
export interface Refused {
  readonly ok: false;
  readonly why: SignatureRefusal;
}

/** Whether a delivery proves where it comes from. */
export type SignatureVerdict = { readonly ok: true; readonly why: null } | Refused;

/** The verdict of a delivery that proves it. */
export const HOLDS: SignatureVerdict = { ok: true, why: null };

/** The verdict of a delivery that does not. */
export function refuse(why: SignatureRefusal): Refused {
  return { ok: false, why };
}
