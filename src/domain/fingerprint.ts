import { hash } from 'node:crypto';
import { sentBy, type Invoice } from './invoice.ts';

/** The only file of the domain that hashes; it stays out of the workflow bundle. */

/** The permanent identity of an invoice: application, merchant NIF and reference. */
export interface InvoiceIdentity {
  readonly application: string;
  readonly merchantNif: string;
  readonly ref: string;
}

/**
 * Returns the SHA-256 (hex) of the content of an invoice. Lines are sorted, and the merchant's name and e-mail are left
 * out, so that a re-sorted or re-saved file has the same invoices.
 */
export function fingerprintOf(invoice: Invoice): string {
  const lines = invoice.lines
    .map((line) => JSON.stringify([line.description, line.quantity, line.unitPrice, line.taxCode]))
    .sort();
  const { 'customer.name': name = '', 'customer.tax_id': taxId = '', currency = '', ...later } = sentBy(invoice);
  // Only what a file gives, so that a new column leaves all other fingerprints as they were.
  const given = Object.entries(later).filter(([, value]) => value !== undefined);
  const head = [invoice.merchant.nif, invoice.ref, name, taxId, currency];
  return sha256(['lote.invoice/1', ...head, ...given.map((one) => JSON.stringify(one)), ...lines]);
}

/** `lote_` and 64 hex digits. The generation rises only after a definitive refusal or failure, never after a timeout. */
export function idempotencyKeyOf(identity: InvoiceIdentity, fingerprint: string, generation: number): string {
  return `lote_${sha256([identity.application, identity.merchantNif, identity.ref, fingerprint, String(generation)])}`;
}

/** Returns the key for the creation of a merchant. It never changes, so that two batches cannot create one merchant twice. */
export function merchantKeyOf(application: string, nif: string): string {
  return `lote_${sha256([application, nif, 'merchant'])}`;
}

/** JSON keeps the parts apart: ["a","bc"] and ["ab","c"] must have different hashes. */
function sha256(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
