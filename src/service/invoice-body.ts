import type { Invoice, InvoiceLine } from '../domain/invoice.ts';
import { exactJson, exactNumber, type ExactJsonObject } from './exact-json.ts';

/**
 * The exact text of POST /v1/invoices (interface section 2): published fields only, in their published order, so that
 * the same invoice always gives the same bytes. The reference is Lote's own and is not sent.
 */
export function invoiceBody(invoice: Invoice, merchantId: string): string {
  return exactJson({
    members: {
      merchant_id: merchantId,
      customer: { members: { name: invoice.customer.name, tax_id: invoice.customer.taxId || undefined } },
      currency: invoice.currency,
      lines: invoice.lines.map(lineOf),
    },
  });
}

function lineOf(line: InvoiceLine): ExactJsonObject {
  return {
    members: {
      description: line.description,
      quantity: exactNumber(line.quantity),
      unit_price: exactNumber(line.unitPrice),
      tax_code: line.taxCode,
    },
  };
}
