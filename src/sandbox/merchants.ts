import { matching, object, readAs, text } from './field.ts';
import { jsonAnswer, merchantAnswer, merchantJson, Refusal, type Answer } from './http/answer.ts';
import type { Call, Services } from './context.ts';
import { onceByKey } from './once-by-key.ts';
import type { MerchantRecord } from './store.ts';

/** The published fields of a merchant. */
export const MerchantBody = object({
  legal_name: text({ max: 500 }),
  nif: matching((nif) => /^[0-9]{1,20}$/.test(nif), '1 to 20 digits'),
  email: matching((email) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(email), 'an e-mail address'),
});

/** POST /v1/merchants */
export function createMerchant(services: Services, call: Call): Promise<Answer> {
  const { context } = services;
  const { application, idempotencyKey, body } = call;
  return onceByKey(services, call, async () => {
    const { nif } = readAs(body.value, MerchantBody);
    if (context.chance.decide('merchantRefusal', `${application.id} ${nif}`))
      throw new Refusal(422, 'merchant_refused', 'the service does not accept this taxpayer.', { field: 'nif' });
    if (application.nifs.has(nif))
      throw new Refusal(409, 'merchant_exists', 'this application has a merchant with this number.', { field: 'nif' });
    // Reserves the NIF before the write, so that two concurrent requests cannot both pass the check above.
    application.nifs.add(nif);
    const merchant: MerchantRecord = {
      id: context.newId('mrc_', `${application.id} ${nif}`),
      applicationId: application.id,
      nif,
      idempotencyKey,
      body: body.text,
      bodySha256: body.sha256,
      createdAt: context.clock(),
    };
    try {
      await context.commit([{ kind: 'merchant', merchant }]);
    } catch (error) {
      application.nifs.delete(nif);
      throw error;
    }
    return merchantAnswer(merchant);
  });
}

/** The default and the most merchants in one answer. */
const PAGE_SIZE = 100;

/** GET /v1/merchants */
export async function listMerchants({ context }: Services, { application, query }: Call): Promise<Answer> {
  await context.latency();
  if (context.chance.decideAgain('listFailure', application.id))
    throw new Refusal(500, 'internal_error', 'The list could not be read.');
  const limit = limitOf(query.get('limit'));
  if (limit === null) throw new Refusal(400, 'query_invalid', `expected 1 to ${PAGE_SIZE}.`, { field: 'limit' });
  const from = positionOf(query.get('cursor'));
  if (from === null)
    throw new Refusal(400, 'query_invalid', 'expected a next_cursor of this list.', { field: 'cursor' });
  const end = from + limit;
  const page = [...application.merchants.values()].slice(from, end);
  const cursor = end < application.merchants.size ? cursorOf(end) : null;
  return jsonAnswer(200, `{"data":[${page.map(merchantJson).join(',')}],"next_cursor":${JSON.stringify(cursor)}}`);
}

function limitOf(text: string | null): number | null {
  if (text === null) return PAGE_SIZE;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= PAGE_SIZE ? limit : null;
}

// The cursor is opaque to the client, so that its meaning can change later.
function cursorOf(position: number): string {
  return Buffer.from(`after ${position}`).toString('base64url');
}

function positionOf(cursor: string | null): number | null {
  if (cursor === null) return 0;
  const match = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  return match === null ? null : Number(match[1]);
}
