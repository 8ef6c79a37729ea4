import type { z } from 'zod';
import type { SignatureSection } from '../service/profile/profile.ts';

/** How deliveries prove where they come from: part of the service profile. */
export type SignatureShape = z.infer<typeof SignatureSection>;

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
