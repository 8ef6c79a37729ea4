import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { type Alarms, type Context, reasonOf } from './context.ts';
import { applicationOf, type Application } from './application.ts';
import type { DeliveryRecord, WebhookRecord } from './store.ts';

/** How the sandbox sends and retries a delivery. Delays are in milliseconds and double up to the longest. */
export interface Delivering {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  readonly maxAttempts: number;
  /** The number of concurrent deliveries to one endpoint, so that a slow endpoint does not delay the others. */
  readonly concurrency: number;
  readonly timeoutMs: number;
}

/** About an hour of attempts, so that a receiver misses nothing during a restart or a deployment. */
export const DEFAULT_DELIVERING: Delivering = {
  firstDelayMs: 1000,
  longestDelayMs: 600_000,
  maxAttempts: 16,
  concurrency: 32,
  timeoutMs: 10_000,
};

/** Returns the wait in milliseconds after `attempts` attempts. It doubles with each attempt; its upper half is random. */
function backoffMs(attempts: number, { firstDelayMs, longestDelayMs }: Delivering): number {
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, attempts - 1));
  // A fixed half keeps attempts apart, and a random half spreads them over time for the receivers.
  return Math.round(full / 2 + (full / 2) * Math.random());
}

// Only the status of a receiver's answer matters.
const MOST_ANSWER_BYTES = 64 * 1024;

/** Sends each delivery repeatedly until it arrives or is given up. */
export class Deliverer {
  readonly #context: Context;
  readonly #alarms: Alarms;
  readonly #plan: Delivering;
  /** Queues all requests above `concurrency` to one address. */
  readonly #dispatcher: Agent;
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(context: Context, alarms: Alarms, plan: Delivering) {
    this.#context = context;
    this.#alarms = alarms;
    this.#plan = plan;
    const { concurrency: connections, timeoutMs: ms } = plan;
    this.#dispatcher = new Agent({ connections, connectTimeout: ms, headersTimeout: ms, bodyTimeout: ms });
  }

  /** Takes over stored deliveries. Resolves after one attempt of each. */
  async enqueue(deliveries: readonly DeliveryRecord[]): Promise<void> {
    await Promise.all(deliveries.map((delivery) => new Promise<void>((resolve) => this.#wait(delivery, resolve))));
  }

  /** Aborts the requests in progress. Their deliveries stay pending. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher.destroy();
    await Promise.all(this.#running);
  }

  #wait(delivery: DeliveryRecord, tried: () => void = () => undefined): void {
    const delayMs = delivery.nextAttemptAt - this.#context.clock();
    const start = (): void => {
      const attempt = this.#run(delivery, tried).finally(() => this.#running.delete(attempt));
      this.#running.add(attempt);
    };
    if (delayMs <= 0) start();
    else this.#alarms.after(delayMs, start);
  }

  async #run(delivery: DeliveryRecord, tried: () => void): Promise<void> {
    const { webhooks } = this.#application(delivery);
    const webhook = webhooks.get(delivery.webhookId);
    const answer = webhook === undefined ? null : await this.#send(webhook, delivery);
    tried();
    if (this.#closed) return;
    const isOver = answer === null || delivery.forged || (typeof answer === 'number' && answer >= 200 && answer < 300);
    await (isOver ? this.#commit('delivery-done', delivery) : this.#sendLater(delivery, answer));
  }

  #application({ applicationId }: DeliveryRecord): Application {
    return applicationOf(this.#context.applications, applicationId);
  }

  /** Returns the HTTP status or an error code. Does not follow redirects. */
  async #send({ url, secret }: WebhookRecord, { body, forged }: DeliveryRecord): Promise<number | string> {
    // A forger knows everything except the secret.
    const signature = signatureOf(body, forged ? `not ${secret}` : secret);
    const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature };
    try {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: this.#dispatcher });
      await answer.body.dump({ limit: MOST_ANSWER_BYTES });
      return answer.statusCode;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    }
  }

  async #sendLater(delivery: DeliveryRecord, answer: number | string): Promise<void> {
    const { clock, log } = this.#context;
    const attempts = delivery.attempts + 1;
    if (attempts >= this.#plan.maxAttempts) {
      log.warn('A webhook delivery is given up.', { deliveryId: delivery.id, attempts, answer });
      this.#application(delivery).deliveriesGivenUp += 1;
      return this.#commit('delivery-done', delivery);
    }
    const later = { ...delivery, attempts, nextAttemptAt: clock() + backoffMs(attempts, this.#plan) };
    await this.#commit('delivery', later);
    this.#wait(later);
  }

  /** If it fails, the delivery is sent again after the next start, because twice is better than never. */
  async #commit(kind: 'delivery' | 'delivery-done', record: DeliveryRecord): Promise<void> {
    const { commit, log } = this.#context;
    await commit([{ kind, record }]).catch((error: unknown) =>
      log.error('A webhook delivery could not be recorded.', { deliveryId: record.id, reason: reasonOf(error) }),
    );
  }
}

/** Name of the header that carries the signature of a delivery. */
export const SIGNATURE_HEADER = 'X-Service-Signature';

/** Returns the HMAC-SHA-256 of the raw bytes of the body, in lower-case hex without a prefix. */
export function signatureOf(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body, 'utf8').digest('hex');
}
