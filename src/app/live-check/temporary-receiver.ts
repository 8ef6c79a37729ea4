import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listenOn } from '../../platform/listen.ts';
import { createByteBudget, readBody, unpackBody } from '../../webhooks/read-body.ts';

/** A delivery as the receiver got it. */
export interface KeptDelivery {
  /** Names and values in turn, as in Node's `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  readonly raw: Uint8Array;
  /** The unpacked body. */
  readonly plain: Uint8Array;
}

const MOST_DELIVERIES = 50;
const MOST_BYTES = 256 * 1024;
const MOST_BYTES_IN_ALL = 4 * 1024 * 1024;

/**
 * Starts a receiver that lasts as long as a check and keeps deliveries in memory. It listens on this machine alone; `port` 0 means any free port.
 * @throws LoteError `port-taken`
 */
export async function startTemporaryReceiver(port: number) {
  const kept: KeptDelivery[] = [];
  const budget = createByteBudget(MOST_BYTES_IN_ALL);

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
    if (kept.length >= MOST_DELIVERIES) return void response.writeHead(503).end();
    const body = await readBody(incoming, MOST_BYTES, budget);
    if (body.kind !== 'read') return void response.writeHead(413, { connection: 'close' }).end();
    const { rawHeaders, headers } = incoming;
    const { raw } = body;
    kept.push({ rawHeaders, raw, plain: unpackBody(raw, headers['content-encoding'], MOST_BYTES) ?? raw });
    response.writeHead(204).end();
  }

  const server = createServer({ headersTimeout: 5_000, requestTimeout: 15_000 }, (incoming, response) => {
    handle(incoming, response).catch(() => incoming.destroy());
  });
  server.maxConnections = 50;
  const place = { host: '127.0.0.1', port, what: 'Checking the service profile', variables: 'RECEIVER' };
  const { origin } = await listenOn(server, place);
  return { url: `${origin}/webhooks`, deliveries: () => kept, close: () => closeServer(server) };
}
