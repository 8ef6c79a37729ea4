import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { type Alarms, type Context, reasonOf } from './context.ts';
import { applicationOf } from './application.ts';
import type { DeliveryRecord, WebhookRecord } from './store.ts';

/**
 * How often and for how long the sandbox retries a delivery. Delays are in milliseconds and double up to the longest.
 */
export interface RetryPlan {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  readonly maxAttempts: number;
}

/** About an hour of attempts, so that a receiver misses nothing during a restart or a deployment. */
export const DEFAULT_RETRY_PLAN: RetryPlan = { firstDelayMs: 1000, longestDelayMs: 600_000, maxAttempts: 16 };

/**
 * Returns the wait in milliseconds after `attempts` attempts. It doubles with each attempt, and its upper half is
 * random.
 */
function backoffMs(attempts: number, plan: RetryPlan, random: () => number): number {
  const full = Math.min(plan.longestDelayMs, plan.firstDelayMs * 2 ** Math.max(0, attempts - 1));
  // A fixed half keeps attempts apart, and a random half spreads them over time for the receivers.
  return Math.round(full / 2 + (full / 2) * random());
}

export interface DelivererOptions {
  readonly context: Context;
  readonly alarms: Alarms;
  readonly plan: RetryPlan;
  /** The number of concurrent deliveries to one endpoint, so that a slow endpoint does not delay the others. */
  readonly concurrency: number;
  readonly timeoutMs: number;
}

/**
 * The result of an attempt. `status` is the HTTP status or an error code. Any 2xx ends a delivery; any other result
 * leads to a retry.
 */
interface Sent {
  readonly status: number | string;
  readonly retryAfterMs: number;
}

// Only the status of a receiver's answer matters.
const MOST_ANSWER_BYTES = 64 * 1024;
const LONGEST_RETRY_AFTER_MS = 600_000;

/** Sends each delivery repeatedly until it arrives or is given up. */
export class Deliverer {
  readonly #options: DelivererOptions;
  /** Queues all requests above `concurrency` to one address. */
  readonly #dispatcher: Agent;
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
    const { concurrency, timeoutMs } = options;
    this.#dispatcher = new Agent({
      connections: concurrency,
      connectTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
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
    const { context, alarms } = this.#options;
    const delayMs = delivery.nextAttemptAt - context.clock();
    const start = (): void => {
      const attempt = this.#run(delivery, tried).finally(() => this.#running.delete(attempt));
      this.#running.add(attempt);
    };
    if (delayMs <= 0) start();
    else alarms.after(delayMs, start);
  }

  async #run(delivery: DeliveryRecord, tried: () => void): Promise<void> {
    const { context, plan } = this.#options;
    const { webhooks } = applicationOf(context.applications, delivery.applicationId);
    const webhook = webhooks.get(delivery.webhookId);
    const sent = webhook === undefined ? null : await this.#send(webhook, delivery);
    tried();
    if (this.#closed) return;
    try {
      await this.#record(delivery, sent);
    } catch (error) {
      // The delivery stays pending in the store, because sending it twice is better than losing it.
      context.log.error('A webhook delivery could not be recorded.', {
        deliveryId: delivery.id,
        reason: reasonOf(error),
      });
      this.#wait({ ...delivery, nextAttemptAt: context.clock() + plan.firstDelayMs });
    }
  }

  /** Does not follow redirects. */
  async #send({ url, secret }: WebhookRecord, { body, forged }: DeliveryRecord): Promise<Sent> {
    // A forger knows everything except the secret.
    const signature = signatureOf(body, forged ? `not ${secret}` : secret);
    const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature };
    try {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: this.#dispatcher });
      await answer.body.dump({ limit: MOST_ANSWER_BYTES });
      return { status: answer.statusCode, retryAfterMs: retryAfterOf(answer.headers['retry-after']) };
    } catch (error) {
      return { status: codeOf(error), retryAfterMs: 0 };
    }
  }

  async #record(delivery: DeliveryRecord, sent: Sent | null): Promise<void> {
    const { context, plan } = this.#options;
    if (sent === null || delivery.forged || hasArrived(sent)) {
      await context.commit([{ kind: 'delivery-done', delivery }]);
      return;
    }
    const attempts = delivery.attempts + 1;
    if (attempts >= plan.maxAttempts) {
      const fields = { deliveryId: delivery.id, invoiceId: delivery.invoiceId, attempts, answer: sent };
      context.log.warn('A webhook delivery is given up.', fields);
      applicationOf(context.applications, delivery.applicationId).deliveriesGivenUp += 1;
      await context.commit([{ kind: 'delivery-done', delivery }]);
      return;
    }
    const delayMs = Math.max(sent.retryAfterMs, backoffMs(attempts, plan, Math.random));
    const later: DeliveryRecord = { ...delivery, attempts, nextAttemptAt: context.clock() + delayMs };
    await context.commit([{ kind: 'delivery', delivery: later }]);
    this.#wait(later);
  }
}

function hasArrived({ status }: Sent): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}

function retryAfterOf(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,9}$/.test(header.trim()) ? Number(header) : 0;
  return Math.min(seconds * 1000, LONGEST_RETRY_AFTER_MS);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}

/** Name of the header that carries the signature of a delivery. */
export const SIGNATURE_HEADER = 'X-Service-Signature';

/** Returns the HMAC-SHA-256 of the raw bytes of the body, in lower-case hex without a prefix. */
export function signatureOf(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body, 'utf8').digest('hex');
}
