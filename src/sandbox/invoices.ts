import { createdInvoiceAnswer, invoiceAnswer, Refusal, type Answer } from './http/answer.ts';
import { readAs } from './field.ts';
import { InvoiceBody } from './engine.ts';
import type { Call, Services } from './context.ts';
import { onceByKey } from './once-by-key.ts';
import type { InvoiceRecord } from './store.ts';

/** POST /v1/invoices */
export function createInvoice(services: Services, call: Call): Promise<Answer> {
  const { context, settlement } = services;
  const { application, idempotencyKey } = call;
  return onceByKey(services, call, async () => {
    const body = readAs(call.body.value, InvoiceBody);
    if (!application.merchants.has(body.merchant_id)) {
      const message = 'this application has no such merchant.';
      throw new Refusal(422, 'merchant_not_found', message, { field: 'merchant_id' });
    }
    const invoice: InvoiceRecord = {
      id: newIdFor(context, call),
      applicationId: application.id,
      merchantId: body.merchant_id,
      idempotencyKey,
      body: call.body.text,
      bodySha256: call.body.sha256,
      createdAt: context.clock(),
      status: 'processing',
      error: null,
      settledAt: null,
    };
    await context.commit([{ kind: 'invoice', invoice }]);
    if (context.chance.decide('webhookEarly', invoice.bodySha256)) await settlement.settleNow(invoice);
    else settlement.accept(invoice);
    return createdInvoiceAnswer(invoice);
  });
}

/** If ids follow from the seed, derives the id from the key; a forgotten key that creates again gets a random one. */
function newIdFor({ newId }: Services['context'], { application, idempotencyKey }: Call): string {
  const id = idempotencyKey === null ? newId('inv_') : newId('inv_', `${application.id} ${idempotencyKey}`);
  return application.invoices.has(id) ? newId('inv_') : id;
}

/** GET /v1/invoices/:id */
export async function getInvoice({ context }: Services, { application, id }: Call): Promise<Answer> {
  await context.latency();
  const invoice = application.invoices.get(id);
  if (invoice === undefined) throw new Refusal(404, 'invoice_not_found', 'This application has no such invoice.');
  return invoiceAnswer(invoice);
}
