import type { Application } from '../application.ts';
import { jsonAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import type { WebhookRecord } from '../records.ts';
import { readWebhookBody } from '../validation/webhook-body.ts';
import { isoTime } from './invoice-answer.ts';
import type { Call, Services } from './operation.ts';
import { problemAnswer } from './problem-answer.ts';

/**
 * POST /v1/webhooks
 *
 * The interface shows no Idempotency-Key here, so the address itself is the key: registering it again gives the same
 * endpoint and secret, with the events of the last request. A client that lost the answer asks again and has it.
 */
export async function registerWebhook({ context }: Services, { application, body }: Call): Promise<Answer> {
  await context.latency();
  const read = readWebhookBody(body.value);
  if (!read.ok) return problemAnswer(read.problem);
  const events = [...new Set(read.body.events)];
  const url = new URL(read.body.url).href;
  const known = webhookAt(application, url);
  if (known !== undefined) {
    const webhook: WebhookRecord = { ...known, events };
    await context.commit([{ kind: 'webhook', webhook }]);
    return webhookAnswer(200, webhook);
  }
  const webhook: WebhookRecord = {
    id: context.newId('whk_'),
    applicationId: application.id,
    url,
    events,
    secret: context.newId('whsec_'),
    createdAt: context.clock(),
  };
  // Shown before it is durable, so that two requests at once cannot make two endpoints of one address.
  application.webhooks.set(webhook.id, webhook);
  try {
    await context.commit([{ kind: 'webhook', webhook }]);
  } catch (error) {
    application.webhooks.delete(webhook.id);
    throw error;
  }
  return webhookAnswer(201, webhook);
}

function webhookAt(application: Application, url: string): WebhookRecord | undefined {
  return [...application.webhooks.values()].find((webhook) => webhook.url === url);
}

function webhookAnswer(status: number, { id, url, events, secret, createdAt }: WebhookRecord): Answer {
  return jsonAnswer(status, JSON.stringify({ id, url, events, secret, created_at: isoTime(createdAt) }));
}
