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
  ...{ firstDelayMs: 1000, longestDelayMs: 600_000, maxAttempts: 16 },
  ...{ concurrency: 32, timeoutMs: 10_000 },
};

/** Returns the wait in milliseconds after `attempts` attempts. It doubles with each attempt; its upper half is random. */
function backoffMs(attempts: number, { firstDelayMs, longestDelayMs }: Delivering): number {
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, attempts - 1));
  // A fixed half keeps attempts apart, and a random half spreads them over time for the receivers.
  return Math.round(full / 2 + (full / 2) * Math.random());
}

/** The result of an attempt: the HTTP status or an error code. Any 2xx ends a delivery; any other result leads to a retry. */
interface Sent {
  readonly status: number | string;
  readonly retryAfterMs: number;
}

// Only the status of a receiver's answer matters.
const MOST_ANSWER_BYTES = 64 * 1024;
const LONGEST_RETRY_AFTER_MS = 600_000;

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
    const webhook = this.#application(delivery).webhooks.get(delivery.webhookId);
    const sent = webhook === undefined ? null : await this.#send(webhook, delivery);
    tried();
    if (this.#closed) return;
    try {
      await this.#record(delivery, sent);
    } catch (error) {
      // The delivery stays pending in the store, because sending it twice is better than losing it.
      const fields = { deliveryId: delivery.id, reason: reasonOf(error) };
      this.#context.log.error('A webhook delivery could not be recorded.', fields);
      this.#wait({ ...delivery, nextAttemptAt: this.#context.clock() + this.#plan.firstDelayMs });
    }
  }

  #application({ applicationId }: DeliveryRecord): Application {
    return applicationOf(this.#context.applications, applicationId);
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
    const context = this.#context;
    if (sent === null || delivery.forged || hasArrived(sent))
      return context.commit([{ kind: 'delivery-done', delivery }]);
    const attempts = delivery.attempts + 1;
    if (attempts >= this.#plan.maxAttempts) {
      const fields = { deliveryId: delivery.id, invoiceId: delivery.invoiceId, attempts, answer: sent };
      context.log.warn('A webhook delivery is given up.', fields);
      this.#application(delivery).deliveriesGivenUp += 1;
      return context.commit([{ kind: 'delivery-done', delivery }]);
    }
    const delayMs = Math.max(sent.retryAfterMs, backoffMs(attempts, this.#plan));
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
