import type { z } from 'zod';
import type { SignatureSection } from '../../service-profile/sections/signature-section.ts';

/** How deliveries prove where they come from: part of the service profile. */
export type SignatureShape = z.infer<typeof SignatureSection>;

/** What a delivery brings before its body. */
export interface RequestHead {
  /** Names and values in turn, one pair for each header line, as Node's `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  /** Epoch milliseconds at which it is judged. */
  readonly now: number;
  /** The step of the address after the receiver's own, decoded; left out: the address ends there. */
  readonly pathSecret?: string;
}
