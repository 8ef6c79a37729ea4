import { hash } from 'node:crypto';
import type { Invoice } from './invoice.ts';

/** The one file of the domain that hashes; it stays out of the workflow bundle. */

/** Who an invoice is, for ever: application + merchant NIF + reference. */
export interface InvoiceIdentity {
  readonly application: string;
  readonly merchantNif: string;
  readonly ref: string;
}

/**
 * SHA-256 (hex) of what an invoice says. Lines are sorted, and the merchant's name and e-mail stay out, so that a
 * re-sorted or re-saved file is the same invoices.
 */
export function fingerprintOf(invoice: Invoice): string {
  const lines = invoice.lines
    .map((line) => JSON.stringify([line.description, line.quantity, line.unitPrice, line.taxCode]))
    .sort();
  return sha256([
    'lote.invoice/1',
    invoice.merchant.nif,
    invoice.ref,
    invoice.customer.name,
    invoice.customer.taxId ?? '',
    invoice.currency,
    ...lines,
  ]);
}

/** `lote_` + 64 hex digits. The generation rises only after a definitive refusal or failure, never after a timeout. */
export function idempotencyKeyOf(identity: InvoiceIdentity, fingerprint: string, generation: number): string {
  return `lote_${sha256([identity.application, identity.merchantNif, identity.ref, fingerprint, String(generation)])}`;
}

/** Key of a merchant's creation; the same for ever, so that two batches can never create one merchant twice. */
export function merchantKeyOf(application: string, nif: string): string {
  return `lote_${sha256([application, nif, 'merchant'])}`;
}

/** JSON keeps the parts apart: ["a","bc"] and ["ab","c"] must not meet. */
function sha256(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
