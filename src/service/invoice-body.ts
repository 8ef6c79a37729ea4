import { sentBy, type Invoice, type InvoiceLine } from '../domain/invoice.ts';
import { exactJson, exactNumber, fillTemplate } from './profile/body-template.ts';

/**
 * Returns the exact text of the creating POST; the same invoice always gives the same bytes. The text follows the
 * template of the profile, or (interface section 2) has only the published fields in their published order.
 */
export function invoiceBody(invoice: Invoice, merchantId: string, template: unknown = null): string {
  const said = sentBy(invoice);
  const lines = invoice.lines.map(lineOf);
  if (template !== null)
    return fillTemplate(template, { values: { merchant_id: merchantId, ...said, reference: invoice.ref }, lines });
  const { 'customer.name': name, 'customer.tax_id': taxId, ...others } = said;
  // Omits the reference: it belongs to Lote and the interface has no field for it.
  return exactJson({ merchant_id: merchantId, customer: { name, tax_id: taxId }, ...others, lines });
}

function lineOf({ description, quantity, unitPrice, taxCode }: InvoiceLine) {
  return { description, quantity: exactNumber(quantity), unit_price: exactNumber(unitPrice), tax_code: taxCode };
}
