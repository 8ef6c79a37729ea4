import { z } from 'zod';
import type { Call, Services } from './context.ts';
import { list, matching, object, readAs } from './field.ts';
import { isoTime, jsonAnswer, type Answer } from './http/answer.ts';
import { EVENT_TYPES, type WebhookRecord } from './store.ts';

/**
 * POST /v1/webhooks. The interface has no Idempotency-Key here, so the address is the key: registering it again returns
 * the same endpoint and secret, with the events of the last request. A client that lost the answer repeats the request.
 */
export async function registerWebhook({ context }: Services, { application, body }: Call): Promise<Answer> {
  await context.latency();
  const wanted = readAs(body.value, WebhookBody);
  const { href } = new URL(wanted.url);
  const events = [...new Set(wanted.events)];
  const known = [...application.webhooks.values()].find(({ url }) => url === href);
  const { clock, newId } = context;
  const fresh = { id: newId('whk_'), applicationId: application.id, secret: newId('whsec_'), createdAt: clock() };
  const webhook: WebhookRecord = { ...(known ?? fresh), url: href, events };
  // Added before it is durable, so that two concurrent requests cannot create two endpoints for one address.
  if (known === undefined) application.webhooks.set(webhook.id, webhook);
  try {
    await context.commit([{ kind: 'webhook', webhook }]);
  } catch (error) {
    if (known === undefined) application.webhooks.delete(webhook.id);
    throw error;
  }
  return webhookAnswer(known === undefined ? 201 : 200, webhook);
}

function webhookAnswer(status: number, { id, url, events, secret, createdAt }: WebhookRecord): Answer {
  return jsonAnswer(status, JSON.stringify({ id, url, events, secret, created_at: isoTime(createdAt) }));
}

const LONGEST_URL = 2000;
// Plain http is only for receivers on the same machine, because no certificate exists for their address.
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** The published fields of a webhook endpoint. */
export const WebhookBody = object({
  url: matching(isAllowed, 'an https address (http on a loopback address only)'),
  events: list(z.enum(EVENT_TYPES, `one of ${EVENT_TYPES.join(', ')}`), { min: 1, max: EVENT_TYPES.length }),
});

function isAllowed(value: string): boolean {
  if (value.length > LONGEST_URL || !URL.canParse(value)) return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}
