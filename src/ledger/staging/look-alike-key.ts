import { hash } from 'node:crypto';
import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import { skeletonOf, withDroppedZeros } from '../../domain/look-alike.ts';

/** Of fixed size, so that no reference is too long for the unique index. */
export function identityKey({ application, merchantNif, ref }: InvoiceIdentity): string {
  return hash('sha256', JSON.stringify([application, merchantNif, ref]), 'base64url');
}

/** The identity key of what a person sees: the same for all references that look alike. */
export function lookAlikeKey(identity: InvoiceIdentity): string {
  return identityKey({ ...identity, ref: skeletonOf(identity.ref) });
}

/** The identity key of an invoice, its look-alike key, and more under which it may be known. */
export interface InvoiceKeys {
  readonly identity: string;
  readonly lookAlike: string;
  /** Identity keys of references that may have become this one. */
  readonly fuller: readonly string[];
}

/** Makes the keys; for nearly all invoices they are one, and hashed once. */
export function invoiceKeys(invoice: InvoiceIdentity): InvoiceKeys {
  const identity = identityKey(invoice);
  const isPlain = skeletonOf(invoice.ref) === invoice.ref;
  const fuller = withDroppedZeros(invoice.ref).map((ref) => identityKey({ ...invoice, ref }));
  return { identity, lookAlike: isPlain ? identity : lookAlikeKey(invoice), fuller };
}
