import type { InvoicingService } from '../domain/ports/invoicing-service.ts';
import type { BodyTemplate } from '../service-profile/body-template.ts';
import { fillTemplate } from './fill-template.ts';

/** Names as published (interface section 6). */
const EVENTS = ['invoice.issued', 'invoice.failed'];

type NewMerchant = Parameters<InvoicingService['createMerchant']>[0];

/** The exact text of the POST that creates a merchant: by the template of the profile, or as published. */
export function merchantBody({ legalName, nif, email }: NewMerchant, template: BodyTemplate): string {
  if (template === null) return JSON.stringify({ legal_name: legalName, nif, email });
  return fillTemplate(template, { values: { legal_name: legalName, nif, email: email || undefined } });
}

/** The exact text of the POST that registers the receiver. */
export function webhookBody(url: string, template: BodyTemplate): string {
  if (template === null) return JSON.stringify({ url, events: EVENTS });
  return fillTemplate(template, { values: { url, events: EVENTS } });
}
