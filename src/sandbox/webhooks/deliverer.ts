import type { Alarms } from '../alarms.ts';
import { applicationOf } from '../application.ts';
import type { Context } from '../context.ts';
import type { DeliveryRecord, WebhookRecord } from '../records.ts';
import { reasonOf } from '../sandbox-log.ts';
import { backoffMs } from './backoff.ts';
import type { RetryPlan } from './backoff.ts';
import type { Sender, Sent } from './send-delivery.ts';

/** Sends what is owed, again and again, until it arrived or was given up. */
export interface Deliverer {
  /** Takes stored deliveries over; resolves when each has been tried once. */
  enqueue(deliveries: readonly DeliveryRecord[]): Promise<void>;
  close(): Promise<void>;
}

export interface DelivererOptions {
  readonly context: Context;
  readonly sender: Sender;
  readonly alarms: Alarms;
  readonly plan: RetryPlan;
  /** Deliveries to one endpoint at a time, so that a slow one takes nothing from the others. */
  readonly concurrency: number;
}

interface Turn {
  readonly delivery: DeliveryRecord;
  readonly tried: () => void;
}

interface Lane {
  readonly ready: Turn[];
  active: number;
}

export function createDeliverer({ context, sender, alarms, plan, concurrency }: DelivererOptions): Deliverer {
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<void>>();
  let closed = false;

  function wait(turn: Turn): void {
    const delayMs = turn.delivery.nextAttemptAt - context.clock();
    if (delayMs <= 0) queue(turn);
    else alarms.after(delayMs, () => queue(turn));
  }

  function queue(turn: Turn): void {
    const { webhookId } = turn.delivery;
    const lane = lanes.get(webhookId) ?? { ready: [], active: 0 };
    lanes.set(webhookId, lane);
    lane.ready.push(turn);
    startReady(lane);
  }

  function startReady(lane: Lane): void {
    while (!closed && lane.active < concurrency) {
      const turn = lane.ready.shift();
      if (turn === undefined) return;
      lane.active += 1;
      const attempt = run(turn).finally(() => {
        lane.active -= 1;
        running.delete(attempt);
        startReady(lane);
      });
      running.add(attempt);
    }
  }

  async function run({ delivery, tried }: Turn): Promise<void> {
    const { webhooks } = applicationOf(context.applications, delivery.applicationId);
    const webhook = webhooks.get(delivery.webhookId);
    const sent: Sent | null = webhook === undefined ? null : await sendTo(webhook, delivery);
    tried();
    if (closed) return;
    try {
      await record(delivery, sent);
    } catch (error) {
      // It stays owed in the store; a delivery too many is better than one too few.
      context.log.error('A webhook delivery could not be recorded.', {
        deliveryId: delivery.id,
        reason: reasonOf(error),
      });
      const again = { ...delivery, nextAttemptAt: context.clock() + plan.firstDelayMs };
      wait({ delivery: again, tried: () => {} });
    }
  }

  function sendTo({ url, secret }: WebhookRecord, { body, forged }: DeliveryRecord): Promise<Sent> {
    return sender.send({ url, secret, body, forged });
  }

  async function record(delivery: DeliveryRecord, sent: Sent | null): Promise<void> {
    if (sent === null || sent.kind === 'arrived' || delivery.forged) {
      await context.commit([{ kind: 'delivery-done', delivery }]);
      return;
    }
    const attempts = delivery.attempts + 1;
    const fields = { deliveryId: delivery.id, invoiceId: delivery.invoiceId, attempts, answer: sent };
    if (attempts >= plan.maxAttempts) {
      context.log.warn('A webhook delivery is given up.', fields);
      applicationOf(context.applications, delivery.applicationId).deliveriesGivenUp += 1;
      await context.commit([{ kind: 'delivery-done', delivery }]);
      return;
    }
    const asked = sent.kind === 'refused' ? sent.retryAfterMs : 0;
    const delayMs = Math.max(asked, backoffMs(attempts, plan, context.random));
    const later: DeliveryRecord = { ...delivery, attempts, nextAttemptAt: context.clock() + delayMs };
    await context.commit([{ kind: 'delivery-failed', delivery: later }]);
    wait({ delivery: later, tried: () => {} });
  }

  return {
    async enqueue(deliveries) {
      const tries = deliveries.map((delivery) => new Promise<void>((resolve) => wait({ delivery, tried: resolve })));
      await Promise.all(tries);
    },
    async close() {
      closed = true;
      await sender.close();
      await Promise.all(running);
    },
  };
}
