import type { z } from 'zod';
import { list, matching, number, object, text } from './field.ts';

const LONGEST_TEXT = 2000;
const MOST_LINES = 1000;

const Line = object({
  description: text({ max: LONGEST_TEXT }),
  quantity: number,
  unit_price: number,
  tax_code: text({ max: 64 }),
});
/** The published fields of an invoice. */
export const InvoiceBody = object({
  merchant_id: matching((id) => /^mrc_[A-Za-z0-9]{1,64}$/.test(id), 'an identifier that begins with mrc_'),
  customer: object({ name: text({ max: LONGEST_TEXT }), tax_id: text({ max: 64 }).optional() }),
  currency: matching((code) => /^[A-Z]{3}$/.test(code), 'three capital letters'),
  lines: list(Line, { min: 1, max: MOST_LINES }),
});

/** An invoice as a client sends it. */
export type InvoiceBody = z.infer<typeof InvoiceBody>;
