import { errorAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import type { MerchantRecord } from '../records.ts';
import { readMerchantBody } from '../validation/merchant-body.ts';
import { merchantAnswer } from './merchant-answer.ts';
import { onceByKey } from './once-by-key.ts';
import type { Call, Services } from './operation.ts';
import { problemAnswer } from './problem-answer.ts';

/** POST /v1/merchants */
export function createMerchant(services: Services, call: Call): Promise<Answer> {
  return onceByKey(services, call, async () => {
    const read = readMerchantBody(call.body.value);
    if (!read.ok) return problemAnswer(read.problem);
    return store(services, call, read.body.nif);
  });
}

async function store({ context }: Services, call: Call, nif: string): Promise<Answer> {
  const { application, idempotencyKey, body } = call;
  if (context.chance.decide('merchantRefusal', `${application.id} ${nif}`)) {
    return errorAnswer(422, 'merchant_refused', 'the service does not accept this taxpayer.', { field: 'nif' });
  }
  if (application.nifs.has(nif)) {
    return errorAnswer(409, 'merchant_exists', 'this application has a merchant with this number.', { field: 'nif' });
  }
  // Taken before the write, so that two requests at once cannot both pass the check above.
  application.nifs.add(nif);
  const merchant: MerchantRecord = {
    id: context.newId('mrc_', `${application.id} ${nif}`),
    applicationId: application.id,
    nif,
    position: application.nextMerchantPosition,
    idempotencyKey,
    body: body.text,
    bodySha256: body.sha256,
    createdAt: context.clock(),
  };
  application.nextMerchantPosition += 1;
  try {
    await context.commit([{ kind: 'merchant', merchant }]);
  } catch (error) {
    application.nifs.delete(nif);
    throw error;
  }
  return merchantAnswer(201, merchant);
}
