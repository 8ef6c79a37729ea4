import { hash } from 'node:crypto';
import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import { skeletonOf } from '../../domain/look-alike.ts';

/** Of fixed size, so that no reference is too long for the unique index. */
function identityKey({ application, merchantNif, ref }: InvoiceIdentity): string {
  return hash('sha256', JSON.stringify([application, merchantNif, ref]), 'base64url');
}

/** The identity key of what a person sees: the same for all references that look alike. */
export function lookAlikeKey(identity: InvoiceIdentity): string {
  return identityKey({ ...identity, ref: skeletonOf(identity.ref) });
}

/** The identity key of an invoice and its look-alike key. */
export interface InvoiceKeys {
  readonly identity: string;
  readonly lookAlike: string;
}

/** Makes both keys; for nearly all invoices they are one, and hashed once. */
export function invoiceKeys(invoice: InvoiceIdentity): InvoiceKeys {
  const identity = identityKey(invoice);
  const isPlain = skeletonOf(invoice.ref) === invoice.ref;
  return { identity, lookAlike: isPlain ? identity : lookAlikeKey(invoice) };
}
