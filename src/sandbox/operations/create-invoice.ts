import { errorAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import type { InvoiceRecord } from '../records.ts';
import { readInvoiceBody } from '../validation/invoice-body.ts';
import type { InvoiceBody } from '../validation/invoice-body.ts';
import { createdInvoiceAnswer } from './invoice-answer.ts';
import { onceByKey } from './once-by-key.ts';
import type { Call, Services } from './operation.ts';
import { problemAnswer } from './problem-answer.ts';

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

/** Where ids follow from the seed, of the key; a key that was forgotten and creates again gets another one. */
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
