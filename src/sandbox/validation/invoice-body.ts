import { list, number, object, pattern, readAs, text } from './field.ts';
import type { Read } from './field.ts';

/** The published fields of an invoice, as a client sends them. */
export interface InvoiceBody {
  readonly merchant_id: string;
  readonly customer: { readonly name: string; readonly tax_id?: string };
  readonly currency: string;
  readonly lines: readonly InvoiceBodyLine[];
}

export interface InvoiceBodyLine {
  readonly description: string;
  readonly quantity: number;
  readonly unit_price: number;
  readonly tax_code: string;
}

const LONGEST_TEXT = 2000;
const MOST_LINES = 1000;

const check = object({
  merchant_id: pattern(/^mrc_[A-Za-z0-9]{1,64}$/, 'an identifier that begins with mrc_'),
  customer: object({ name: text({ max: LONGEST_TEXT }) }, { tax_id: text({ max: 64 }) }),
  currency: pattern(/^[A-Z]{3}$/, 'three capital letters'),
  lines: list(
    object({
      description: text({ max: LONGEST_TEXT }),
      quantity: number(),
      unit_price: number(),
      tax_code: text({ max: 64 }),
    }),
    { min: 1, max: MOST_LINES },
  ),
});

/** The request as a type, or the first problem of it. */
export function readInvoiceBody(value: unknown): Read<InvoiceBody> {
  return readAs<InvoiceBody>(value, check);
}
