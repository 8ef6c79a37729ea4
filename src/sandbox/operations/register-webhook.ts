import type { Application } from '../application.ts';
import type { Context } from '../context.ts';
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
export async function registerWebhook({ context }: Services, call: Call): Promise<Answer> {
  await context.latency();
  const read = readWebhookBody(call.body.value);
  if (!read.ok) return problemAnswer(read.problem);
  const { isNew, webhook } = await keepEndpoint(context, call.application, {
    url: new URL(read.body.url).href,
    events: [...new Set(read.body.events)],
    secret: call.endpointSecret ?? null,
  });
  return webhookAnswer(isNew ? 201 : 200, webhook);
}

/** An endpoint that is wanted; `secret` null: the one that it has, or a fresh one. */
export interface WantedEndpoint extends Pick<WebhookRecord, 'url' | 'events'> {
  readonly secret: string | null;
}

/** Makes an endpoint, or changes the one at that address. */
export async function keepEndpoint(
  context: Context,
  application: Application,
  { url, events, secret }: WantedEndpoint,
): Promise<{ readonly isNew: boolean; readonly webhook: WebhookRecord }> {
  const known = webhookAt(application, url);
  if (known !== undefined) {
    const changed: WebhookRecord = { ...known, events, secret: secret ?? known.secret };
    await context.commit([{ kind: 'webhook', webhook: changed }]);
    return { isNew: false, webhook: changed };
  }
  const webhook: WebhookRecord = {
    id: context.newId('whk_'),
    applicationId: application.id,
    url,
    events,
    secret: secret ?? context.newId('whsec_'),
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
  return { isNew: true, webhook };
}

function webhookAt(application: Application, url: string): WebhookRecord | undefined {
  return [...application.webhooks.values()].find((webhook) => webhook.url === url);
}

function webhookAnswer(status: number, { id, url, events, secret, createdAt }: WebhookRecord): Answer {
  return jsonAnswer(status, JSON.stringify({ id, url, events, secret, created_at: isoTime(createdAt) }));
}
