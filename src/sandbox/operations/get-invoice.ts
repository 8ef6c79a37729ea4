import { errorAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import { invoiceAnswer } from './invoice-answer.ts';
import type { Call, Services } from './operation.ts';

/** GET /v1/invoices/:id */
export async function getInvoice({ context }: Services, { application, id }: Call): Promise<Answer> {
  await context.latency();
  if (!application.invoices.has(id)) {
    return errorAnswer(404, 'invoice_not_found', 'This application has no such invoice.');
  }
  const body = await context.invoiceBody(id);
  // Looked up again: it may have settled while its body was read.
  const invoice = application.invoices.get(id);
  if (invoice === undefined) throw new Error(`Reading ${id}: an invoice must stay in the books, and it is gone.`);
  return invoiceAnswer(invoice, body);
}
