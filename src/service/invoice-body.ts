import type { Invoice, InvoiceLine } from '../domain/invoice.ts';
import type { BodyTemplate } from '../service-profile/body-template.ts';
import { exactJson, exactNumber, type ExactJsonObject } from './exact-json.ts';
import { fillTemplate } from './fill-template.ts';

/**
 * The exact text of the creating POST, so that the same invoice always gives the same bytes: by the template of the profile, or as published (interface
 * section 2), with the published fields alone in their published order.
 */
export function invoiceBody(invoice: Invoice, merchantId: string, template: BodyTemplate = null): string {
  return template === null ? publishedBody(invoice, merchantId) : bodyByTemplate(template, invoice, merchantId);
}

function bodyByTemplate(template: BodyTemplate, invoice: Invoice, merchantId: string): string {
  const { customer, currency, lines, ref } = invoice;
  return fillTemplate(template, {
    values: {
      merchant_id: merchantId,
      'customer.name': customer.name,
      'customer.tax_id': customer.taxId || undefined,
      currency,
      reference: ref,
    },
    lines: lines.map((line) => lineOf(line).members),
  });
}

/** The reference is Lote's own and is not sent. */
function publishedBody(invoice: Invoice, merchantId: string): string {
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
