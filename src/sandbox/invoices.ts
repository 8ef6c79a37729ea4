import { problemAnswer } from './field.ts';
import { createdInvoiceAnswer, errorAnswer, invoiceAnswer, type Answer } from './http/answer.ts';
import { readInvoiceBody, type InvoiceBody } from './invoice-body.ts';
import type { Call, Services } from './operation.ts';
import { onceByKey } from './once-by-key.ts';
import type { InvoiceRecord } from './records.ts';

/** POST /v1/invoices */
export function createInvoice(services: Services, call: Call): Promise<Answer> {
  return onceByKey(services, call, async () => {
    const read = readInvoiceBody(call.body.value);
    if (!read.ok) return problemAnswer(read.problem);
    if (!call.application.merchants.has(read.body.merchant_id)) {
      const message = 'this application has no such merchant.';
      return errorAnswer(422, 'merchant_not_found', message, { field: 'merchant_id' });
    }
    return store(services, call, read.body);
  });
}

/** If ids follow from the seed, derives the id from the key; a forgotten key that creates again gets a random one. */
function newIdFor({ newId }: Services['context'], { application, idempotencyKey }: Call): string {
  const id = idempotencyKey === null ? newId('inv_') : newId('inv_', `${application.id} ${idempotencyKey}`);
  return application.invoices.has(id) ? newId('inv_') : id;
}

async function store({ context, settlement }: Services, call: Call, body: InvoiceBody): Promise<Answer> {
  const { application, idempotencyKey } = call;
  const { text, sha256: bodySha256 } = call.body;
  const invoice: InvoiceRecord = {
    id: newIdFor(context, call),
    applicationId: application.id,
    merchantId: body.merchant_id,
    idempotencyKey,
    bodySha256,
    createdAt: context.clock(),
    status: 'processing',
    error: null,
    settledAt: null,
  };
  await context.commit([{ kind: 'invoice', invoice, body: text }]);
  const accepted = { invoice, body, text };
  if (context.chance.decide('webhookEarly', bodySha256)) await settlement.settleNow(accepted);
  else settlement.accept(accepted);
  return createdInvoiceAnswer(invoice, text);
}

/** GET /v1/invoices/:id */
export async function getInvoice({ context }: Services, { application, id }: Call): Promise<Answer> {
  await context.latency();
  if (!application.invoices.has(id)) {
    return errorAnswer(404, 'invoice_not_found', 'This application has no such invoice.');
  }
  const body = await context.invoiceBody(id);
  // Reads the invoice again, because it may have settled while its body was read.
  const invoice = application.invoices.get(id);
  if (invoice === undefined) throw new Error(`Reading ${id}: an invoice must stay in the books, and it is gone.`);
  return invoiceAnswer(invoice, body);
}
