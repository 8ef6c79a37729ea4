import type { Finding } from '../../domain/invoice.ts';
import { shownCell } from '../invoice/cell-findings.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { headerKey } from './map-header.ts';

/** Words of a header in Portuguese, Spanish and English, as `headerKey` writes it; the short ones only alone. */
const DISCOUNT = /desconto|descuento|discount|rebate|^dc?tos?$/;
/** `% Desc.`, which may also be short for a description: then its cells are no numbers. */
const ABBREVIATED = /^(?:perc|pct|valor|val|taxa|tx)?desc(?:perc|pct|valor|val|com|fin|\d)?$/;

/** Whether a column or member that Lote does not read says what is taken off a price; not if the profile names it in `ignore`. */
export function isDiscount(header: string, { ignore = [] }: Pick<IngestOptions, 'ignore'>): boolean {
  const key = headerKey(header);
  return (DISCOUNT.test(key) || ABBREVIATED.test(key)) && !ignore.some((name) => headerKey(name) === key);
}

/** The error of a row that has such a discount; null: it has none, or zero. */
export function discountFinding(row: number, label: string, cell: string): Finding | null {
  if (!/[1-9]/.test(cell) || (/\p{L}/u.test(cell) && ABBREVIATED.test(headerKey(label)))) return null;
  const message = `Row ${row}, ${label}: found the discount ${shownCell(cell.trim())}, which is not sent: the service gets quantity and unit price alone. Write the price after the discount, and empty this cell; if the price has the discount already, name "${label}" in the "ignore" of a mapping profile`;
  return { row, column: label, code: 'discount-not-sent', message, severity: 'error' };
}
