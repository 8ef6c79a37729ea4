import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { startReceiver, type Receiver, type ReceiverOptions } from '../../../src/webhooks/server.ts';
import { PLAIN, SECRET } from './receiver-shapes.ts';
import type { RecordDelivery } from '../../../src/ledger/webhooks/deliveries.ts';

export { PLAIN, SECRET };

/** Keeps what was recorded; a test may make it slow or broken. */
export interface RecordingLedger {
  readonly groups: RecordDelivery[][];
  readonly storeDeliveries: (deliveries: readonly RecordDelivery[]) => Promise<void>;
  /** Called before each write; throw or wait in it. */
  before: () => Promise<void>;
}

export function recordingLedger(): RecordingLedger {
  const groups: RecordDelivery[][] = [];
  const ledger: RecordingLedger = {
    groups,
    before: async () => undefined,
    async storeDeliveries(deliveries) {
      await ledger.before();
      groups.push([...deliveries]);
    },
  };
  return ledger;
}

export interface StartedReceiver extends Receiver {
  readonly port: number;
  readonly ledger: RecordingLedger;
  /** What was announced as stored, by service id. */
  readonly stored: (string | null)[];
  readonly logged: string[];
}

/** A real receiver on a free port of 127.0.0.1, closed when the test ends. */
export async function receiverOf(
  options: Partial<ReceiverOptions> = {},
  ledger = recordingLedger(),
): Promise<StartedReceiver> {
  const stored: (string | null)[] = [];
  const logged: string[] = [];
  const receiver = await startReceiver({
    ...PLAIN,
    ledger,
    onStored: (deliveries) => stored.push(...deliveries.map(({ event }) => event?.serviceId ?? null)),
    log: { warn: (message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`) },
    ...options,
  });
  onTestFinished(async () => await receiver.close());
  return { ...receiver, port: Number(new URL(receiver.url).port), ledger, stored, logged };
}

export function signatureOf(body: string | Uint8Array, secret = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

export function eventOf(n: number | string, type = 'invoice.issued'): string {
  return JSON.stringify({ id: `evt_${n}`, type, data: { id: `inv_${n}` } });
}

/** Delivers as the service does. */
export async function deliver(
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-service-signature': signatureOf(body), ...headers },
  });
}

/** Speaks raw bytes, for what no client would send. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything received, when the other side has closed. */
  readonly closed: Promise<string>;
  /** Resolves when the text received so far matches. */
  until(pattern: RegExp): Promise<string>;
}

export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  const watchers = new Set<() => void>();
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (const watch of watchers) watch();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  await new Promise((resolve) => socket.once('connect', resolve));
  return {
    socket,
    closed,
    until: async (pattern) =>
      await new Promise((resolve) => {
        const watch = (): void => {
          if (!pattern.test(text)) return;
          watchers.delete(watch);
          resolve(text);
        };
        watchers.add(watch);
        watch();
      }),
  };
}
