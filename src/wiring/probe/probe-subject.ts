import { createHash, randomInt } from 'node:crypto';
import type { Invoice } from '../../domain/invoice.ts';

/** What a probe creates at the service. */
export interface ProbeSubject {
  readonly nif: string;
  readonly legalName: string;
  readonly email: string;
  readonly currency: string;
  readonly taxCode: string;
  /** A tax code with which the test environment makes an invoice fail; null: no second invoice is made. */
  readonly failingTaxCode: string | null;
  /** Of this run alone: no key of it was used before. */
  readonly run: string;
}

const QUANTITY = '1';
const PRICE = '1.23';
/** Other bytes under a known key. */
const OTHER_PRICE = '1.24';
const CUSTOMER = { name: 'Lote probe', taxId: '999999990' };
const WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2];

/** What the invoice of a probe says, for people. */
export const INVOICE_SHOWN = `one line, ${QUANTITY} x ${PRICE}`;

/** Which invoice of a probe. */
export type ProbeInvoice = 'first' | 'other-bytes' | 'without-lines' | 'failing';

/** An invoice of a probe; `without-lines` is one that no service can take. */
export function probeInvoice(
  { nif, currency, taxCode, failingTaxCode, run }: ProbeSubject,
  which: ProbeInvoice,
): Invoice {
  const line = {
    description: 'Lote probe',
    quantity: QUANTITY,
    unitPrice: which === 'other-bytes' ? OTHER_PRICE : PRICE,
    taxCode: which === 'failing' ? (failingTaxCode ?? taxCode) : taxCode,
  };
  return {
    ref: `lote-probe-${run}`,
    merchant: { nif, legalName: null, email: null },
    customer: CUSTOMER,
    currency,
    lines: which === 'without-lines' ? [] : [line],
  };
}

/** An Idempotency-Key of this run; the same words always give the same one. */
export function probeKey({ run }: ProbeSubject, what: string): string {
  return `lote_probe_${createHash('sha256').update(`${run} ${what}`).digest('hex').slice(0, 40)}`;
}

/** A tax number of the form of a Portuguese company's, with its check digit, that nobody was asked for. */
export function madeUpNif(): string {
  const digits = [5, ...Array.from({ length: 7 }, () => randomInt(10))];
  const sum = digits.reduce((all, digit, at) => all + digit * (WEIGHTS[at] ?? 0), 0);
  const rest = 11 - (sum % 11);
  return [...digits, rest > 9 ? 0 : rest].join('');
}

/** Values that were sent, and are therefore no ids in an answer. */
export function sentValues({ nif, legalName, email, currency, taxCode }: ProbeSubject): readonly string[] {
  return [nif, legalName, email, currency, taxCode, CUSTOMER.name, CUSTOMER.taxId, PRICE, QUANTITY];
}
