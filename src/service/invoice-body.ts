import type { Invoice, InvoiceLine } from '../domain/invoice.ts';
import { exactJson, exactNumber, fillTemplate, type BodyTemplate } from './profile/body-template.ts';

/**
 * Returns the exact text of the creating POST; the same invoice always gives the same bytes. The text follows the
 * template of the profile, or (interface section 2) has only the published fields in their published order.
 */
export function invoiceBody(invoice: Invoice, merchantId: string, template: BodyTemplate = null): string {
  const { customer, currency, ref } = invoice;
  const lines = invoice.lines.map(lineOf);
  const taxId = customer.taxId || undefined;
  if (template !== null) {
    const buyer = { 'customer.name': customer.name, 'customer.tax_id': taxId };
    return fillTemplate(template, { values: { merchant_id: merchantId, ...buyer, currency, reference: ref }, lines });
  }
  // Omits the reference: it belongs to Lote and the interface has no field for it.
  return exactJson({ merchant_id: merchantId, customer: { name: customer.name, tax_id: taxId }, currency, lines });
}

function lineOf({ description, quantity, unitPrice, taxCode }: InvoiceLine) {
  return { description, quantity: exactNumber(quantity), unit_price: exactNumber(unitPrice), tax_code: taxCode };
}
