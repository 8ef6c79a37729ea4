import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { type Alarms, type Context, reasonOf } from './context.ts';
import { applicationOf } from './application.ts';
import type { DeliveryRecord, WebhookRecord } from './records.ts';

/** How long and how often a delivery is tried again. Delays are milliseconds; they double up to the longest. */
export interface RetryPlan {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  readonly maxAttempts: number;
}

/** About an hour of trying: a receiver that is restarted, or down for a deployment, misses nothing. */
export const DEFAULT_RETRY_PLAN: RetryPlan = { firstDelayMs: 1000, longestDelayMs: 600_000, maxAttempts: 16 };

/** Wait before the next try after `attempts` tries: doubled each time, the upper half of it drawn by chance. */
export function backoffMs(attempts: number, plan: RetryPlan, random: () => number): number {
  const full = Math.min(plan.longestDelayMs, plan.firstDelayMs * 2 ** Math.max(0, attempts - 1));
  // Half fixed, half drawn: tries stay apart from each other, and receivers are not hit by all of them at once.
  return Math.round(full / 2 + (full / 2) * random());
}

export interface DelivererOptions {
  readonly context: Context;
  readonly alarms: Alarms;
  readonly plan: RetryPlan;
  /** Deliveries to one endpoint at a time, so that a slow one takes nothing from the others. */
  readonly concurrency: number;
  readonly timeoutMs: number;
}

/** `status`: of the answer, or the code of what kept it from coming. Any 2xx ends a delivery; everything else is tried again. */
interface Sent {
  readonly status: number | string;
  readonly retryAfterMs: number;
}

// A receiver's answer means nothing beyond its status.
const MOST_ANSWER_BYTES = 64 * 1024;
const LONGEST_RETRY_AFTER_MS = 600_000;

/** Sends what is owed, again and again, until it arrived or was given up. */
export class Deliverer {
  readonly #options: DelivererOptions;
  /** Queues what is more than `concurrency` to one address. */
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

  /** Takes stored deliveries over; resolves when each has been tried once. */
  async enqueue(deliveries: readonly DeliveryRecord[]): Promise<void> {
    await Promise.all(deliveries.map((delivery) => new Promise<void>((resolve) => this.#wait(delivery, resolve))));
  }

  /** Ends what is on the wire; the deliveries stay owed. */
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
      // It stays owed in the store; a delivery too many is better than one too few.
      context.log.error('A webhook delivery could not be recorded.', {
        deliveryId: delivery.id,
        reason: reasonOf(error),
      });
      this.#wait({ ...delivery, nextAttemptAt: context.clock() + plan.firstDelayMs });
    }
  }

  /** Redirects are not followed. */
  async #send({ url, secret }: WebhookRecord, { body, forged }: DeliveryRecord): Promise<Sent> {
    // A forger knows everything but the secret.
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

/** Header of a delivery that carries its signature. */
export const SIGNATURE_HEADER = 'X-Service-Signature';

/** HMAC-SHA-256 over the raw bytes of the body, in lower-case hex, without a prefix. */
export function signatureOf(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body, 'utf8').digest('hex');
}
