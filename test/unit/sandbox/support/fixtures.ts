import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../../src/sandbox/sandbox.ts';
import { restoreApplications } from '../../../../src/sandbox/application.ts';
import { memoryStore, type DeliveryRecord, type SandboxStore } from '../../../../src/sandbox/store.ts';
import { call, invoiceFor, merchantIn } from './client.ts';

/** Retries fast enough for a test, as many as the real plan has at least. */
export const FAST_RETRIES = { firstDelayMs: 5, longestDelayMs: 20, maxAttempts: 8 };

/** A sandbox on a free port that ends with the test. */
export async function sandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const started = await startSandbox({
    port: 0,
    store: memoryStore(),
    settleMs: 5,
    webhooks: FAST_RETRIES,
    ...options,
  });
  let open = true;
  async function close(): Promise<void> {
    if (!open) return;
    open = false;
    await started.close();
  }
  onTestFinished(close);
  return { ...started, close };
}

/** A sandbox with one merchant, and a valid invoice of it. */
export async function withMerchant(options: Partial<SandboxOptions> = {}) {
  const box = await sandbox(options);
  const merchantId = await merchantIn(box.url);
  return { ...box, merchantId, body: invoiceFor(merchantId) };
}

export interface ReceivedDelivery {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Receiver {
  readonly url: string;
  readonly received: ReceivedDelivery[];
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** A real receiver of webhooks; the answer to each delivery is the test's. */
export async function receiver(
  answer: (delivery: ReceivedDelivery, count: number) => ReceiverAnswer | Promise<ReceiverAnswer> = () => ({
    status: 204,
  }),
): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const delivery = { body: Buffer.concat(chunks).toString(), headers: request.headers };
      received.push(delivery);
      void Promise.resolve(answer(delivery, received.length)).then(({ status, headers = {} }) => {
        response.writeHead(status, headers).end();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/webhooks`, received };
}

/** The deliveries that a store still owes. */
export async function owedIn(store: SandboxStore): Promise<readonly DeliveryRecord[]> {
  const applications = await restoreApplications(store.open());
  return [...applications.values()].flatMap(({ deliveriesPending }) => [...deliveriesPending.values()]);
}

/** Registers a receiver for both events and gives the secret. */
export async function register(
  sandboxUrl: string,
  url: string,
  events = ['invoice.issued', 'invoice.failed'],
): Promise<string> {
  const reply = await call(sandboxUrl, 'POST', '/v1/webhooks', { body: { url, events } });
  if (reply.status >= 300) throw new Error(`Registering a webhook: found ${reply.status} ${reply.text}`);
  return String(reply.json['secret']);
}
