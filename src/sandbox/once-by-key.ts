import type { Application, KeptAnswer } from './application.ts';
import { createdInvoiceAnswer, merchantAnswer, Refusal, type Answer } from './http/answer.ts';
import type { Call, Services } from './context.ts';

/** The retention window of keys; after it, the same key creates again. */
const KEY_RETENTION_MS = 24 * 60 * 60 * 1000;

/**
 * Creates at most once for an Idempotency-Key. Keeps only answers that created something (and the error of the fault
 * `stored500`): a client may correct a refused request and send it again with the same key.
 */
export async function onceByKey({ context }: Services, call: Call, create: () => Promise<Answer>): Promise<Answer> {
  const { application, idempotencyKey: key } = call;
  if (key === null) {
    await context.latency();
    return create();
  }
  forgetExpired(application, context.clock());
  const kept = application.keptAnswers.get(key);
  if (kept !== undefined) return repeat(context, call, kept);
  if (application.keysInFlight.has(key)) {
    const message = 'Idempotency-Key: a request with this key is being answered. Ask again.';
    throw new Refusal(409, 'idempotency_in_progress', message, { headers: { 'Retry-After': '1' } });
  }
  application.keysInFlight.add(key);
  try {
    await context.latency();
    if (!context.chance.decide('stored500', `${application.id} ${key}`)) return await create();
    const owner = { applicationId: application.id, idempotencyKey: key, path: call.path };
    const storedError = { ...owner, bodySha256: call.body.sha256, createdAt: context.clock() };
    await context.commit([{ kind: 'stored-error', storedError }]);
    throw storedErrorOf();
  } finally {
    application.keysInFlight.delete(key);
  }
}

async function repeat(context: Services['context'], call: Call, kept: KeptAnswer): Promise<Answer> {
  const { application, path, body } = call;
  await context.latency();
  if (kept.path !== path || kept.bodySha256 !== body.sha256)
    throw new Refusal(422, 'idempotency_mismatch', 'Idempotency-Key: this key was used with another request.');
  if (kept.id === null) throw storedErrorOf();
  const invoice = application.invoices.get(kept.id);
  if (invoice !== undefined) return createdInvoiceAnswer(invoice);
  const merchant = application.merchants.get(kept.id);
  if (merchant !== undefined) return merchantAnswer(merchant);
  throw new Error(`Repeating an answer: ${kept.id} must be in the books, and it is not.`);
}

function forgetExpired({ keptAnswers }: Application, now: number): void {
  for (const [key, { createdAt }] of keptAnswers) {
    if (now - createdAt <= KEY_RETENTION_MS) return;
    keptAnswers.delete(key);
  }
}

function storedErrorOf(): Refusal {
  return new Refusal(500, 'internal_error', 'The service failed. This answer is kept under the Idempotency-Key.');
}
