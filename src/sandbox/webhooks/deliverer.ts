import type { Alarms } from '../alarms.ts';
import { applicationOf } from '../application.ts';
import type { Context } from '../context.ts';
import type { DeliveryRecord, WebhookRecord } from '../records.ts';
import { reasonOf } from '../sandbox-log.ts';
import { backoffMs } from './backoff.ts';
import type { RetryPlan } from './backoff.ts';
import type { Sender, Sending, Sent } from './send-delivery.ts';

/** Sends what is owed, again and again, until it arrived or was given up. */
export interface Deliverer {
  /** Takes stored deliveries over; resolves when each has been tried once. */
  enqueue(deliveries: readonly DeliveryRecord[]): Promise<void>;
  close(): Promise<void>;
}

export interface DelivererOptions {
  readonly context: Context;
  readonly sender: Sender;
  /** Writes and signs a delivery. */
  readonly seal: (webhook: WebhookRecord, delivery: DeliveryRecord) => Sending;
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

/** Makes the deliverer of one sandbox. It is idle until `enqueue` brings deliveries. */
export function createDeliverer(options: DelivererOptions): Deliverer {
  return new RetryingDeliverer(options);
}

class RetryingDeliverer implements Deliverer {
  readonly #options: DelivererOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  async enqueue(deliveries: readonly DeliveryRecord[]): Promise<void> {
    const tries = deliveries.map(
      (delivery) => new Promise<void>((resolve) => this.#wait({ delivery, tried: resolve })),
    );
    await Promise.all(tries);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#options.sender.close();
    await Promise.all(this.#running);
  }

  #wait(turn: Turn): void {
    const { context, alarms } = this.#options;
    const delayMs = turn.delivery.nextAttemptAt - context.clock();
    if (delayMs <= 0) this.#queue(turn);
    else alarms.after(delayMs, () => this.#queue(turn));
  }

  #waitAgain(delivery: DeliveryRecord): void {
    this.#wait({ delivery, tried: () => {} });
  }

  #queue(turn: Turn): void {
    const { webhookId } = turn.delivery;
    const lane = this.#lanes.get(webhookId) ?? { ready: [], active: 0 };
    this.#lanes.set(webhookId, lane);
    lane.ready.push(turn);
    this.#startReady(lane);
  }

  #startReady(lane: Lane): void {
    while (!this.#closed && lane.active < this.#options.concurrency) {
      const turn = lane.ready.shift();
      if (turn === undefined) return;
      lane.active += 1;
      const attempt = this.#run(turn).finally(() => {
        lane.active -= 1;
        this.#running.delete(attempt);
        this.#startReady(lane);
      });
      this.#running.add(attempt);
    }
  }

  async #run({ delivery, tried }: Turn): Promise<void> {
    const { context, plan } = this.#options;
    const { webhooks } = applicationOf(context.applications, delivery.applicationId);
    const webhook = webhooks.get(delivery.webhookId);
    const sent: Sent | null = webhook === undefined ? null : await this.#sendTo(webhook, delivery);
    tried();
    if (this.#closed) return;
    try {
      await this.#record(delivery, sent);
    } catch (error) {
      // It stays owed in the store; a delivery too many is better than one too few.
      context.log.error('A webhook delivery could not be recorded.', {
        deliveryId: delivery.id,
        reason: reasonOf(error),
      });
      this.#waitAgain({ ...delivery, nextAttemptAt: context.clock() + plan.firstDelayMs });
    }
  }

  #sendTo(webhook: WebhookRecord, delivery: DeliveryRecord): Promise<Sent> {
    return this.#options.sender.send(this.#options.seal(webhook, delivery));
  }

  async #record(delivery: DeliveryRecord, sent: Sent | null): Promise<void> {
    const { context, plan } = this.#options;
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
    this.#waitAgain(later);
  }
}
