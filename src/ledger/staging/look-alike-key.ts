import { createHash } from 'node:crypto';
import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import { skeletonOf } from '../../domain/look-alike.ts';

/** Of fixed size, so that no reference is too long for the unique index. */
export function identityKey({ application, merchantNif, ref }: InvoiceIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([application, merchantNif, ref]))
    .digest('base64url');
}

/** The identity key of what a person sees: the same for all references that look alike. */
export function lookAlikeKey(identity: InvoiceIdentity): string {
  return identityKey({ ...identity, ref: skeletonOf(identity.ref) });
}
