import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LoteError } from '../../domain/errors.ts';
import type { Document } from '../../service-profile/place.ts';
import { parseJson, textOf } from '../../webhooks/event-document.ts';
import { createByteBudget, readBody } from '../../webhooks/read-body.ts';

/** A delivery as it came. */
export interface KeptDelivery {
  /** Names and values in turn, as Node's `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
  /** The last step of the address to which it came, decoded, which may be a secret. */
  readonly pathSecret: string | undefined;
  /** The delivery as places read it, without headers that hold a secret. */
  readonly document: Document;
}

/** A receiver that lives as long as a probe and keeps deliveries in memory. */
export interface TemporaryReceiver {
  /** Where it listens. */
  readonly url: string;
  deliveries(): readonly KeptDelivery[];
  close(): Promise<void>;
}

const PATH = '/webhooks';
const HOST = '127.0.0.1';
const MOST_DELIVERIES = 50;
const MOST_BYTES = 256 * 1024;
const MOST_BYTES_IN_ALL = 4 * 1024 * 1024;
const HIDDEN = /^(?:authorization|proxy-authorization|cookie)$/i;

/** Listens on this machine alone; `port` 0: any that is free. @throws LoteError `port-taken` */
export async function startTemporaryReceiver(port: number): Promise<TemporaryReceiver> {
  const kept: KeptDelivery[] = [];
  const budget = createByteBudget(MOST_BYTES_IN_ALL);

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
    if (kept.length >= MOST_DELIVERIES) return void response.writeHead(503).end();
    const body = await readBody(incoming, MOST_BYTES, budget);
    if (body.kind !== 'read') return void response.writeHead(413, { connection: 'close' }).end();
    kept.push(keptDelivery(incoming, body.raw));
    response.writeHead(204).end();
  }

  const server = createServer({ headersTimeout: 5_000, requestTimeout: 15_000 }, (incoming, response) => {
    handle(incoming, response).catch(() => incoming.destroy());
  });
  server.maxConnections = 50;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new LoteError(
          'port-taken',
          `Probing: port ${port} must be free for deliveries, and it is not. Name another with --port.`,
          {
            cause,
          },
        ),
      ),
    );
    server.listen(port, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`,
    deliveries: () => kept,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Behind a proxy the path may be any. */
function lastStep(url: string): string | undefined {
  const step = url
    .split('?')[0]
    ?.split('/')
    .findLast((one) => one !== '');
  try {
    return step === undefined ? undefined : decodeURIComponent(step);
  } catch {
    return undefined;
  }
}

function keptDelivery({ rawHeaders, url = '' }: IncomingMessage, body: Uint8Array): KeptDelivery {
  const text = textOf(body);
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!HIDDEN.test(name) && !Object.hasOwn(headers, name)) headers[name] = rawHeaders[index + 1] ?? '';
  }
  const document = { body: text === null ? undefined : parseJson(text), headers, ...(text !== null && { text }) };
  return { rawHeaders, body, pathSecret: lastStep(url), document };
}
