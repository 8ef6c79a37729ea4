import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Books } from './books.ts';
import { Deliveries } from './deliveries.ts';
import { type Family, type Reply, NO_FAULTS, type Faults } from './family.ts';
import { routed } from './operations.ts';
import { listen } from '../../support/servers/own-port.ts';

export interface FakeOptions {
  readonly family: Family;
  /** From acceptance to the final word. */
  readonly settleMs?: number;
  readonly faults?: Partial<Faults>;
  /** NIFs of merchants that stand on a late page of the list from the start. */
  readonly existing?: readonly string[];
}

export interface FakeService {
  readonly url: string;
  readonly key: string;
  readonly books: Books;
  readonly deliveries: Deliveries;
  /** As somebody does by hand on the service's pages; returns the secret. */
  registerByHand(url: string, secret?: string): string;
  close(): Promise<void>;
}

const KEY = 'sk_test_fake';
const MOST_BYTES = 1_000_000;
/** A fake that nobody closed ends by itself. */
const LONGEST_LIFE_MS = 600_000;
const SETTLE_MS = 30;

/** Starts one invoicing service of a family on a free port of this machine, with books of its own. */
export async function startFake(options: FakeOptions): Promise<FakeService> {
  const { family, existing = [] } = options;
  const faults: Faults = { ...NO_FAULTS, ...options.faults };
  const books = new Books(family.answers, existing);
  const deliveries = new Deliveries(family.events, faults);
  const settling = new AbortController();
  setMaxListeners(0, settling.signal);
  const operations = routed({
    ...{ family, books, deliveries, faults, key: KEY },
    afterSettling: (work) =>
      void sleep(options.settleMs ?? SETTLE_MS, undefined, { signal: settling.signal, ref: false }).then(
        work,
        () => undefined,
      ),
  });
  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => incoming.socket.destroy());
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(incoming);
    const reply = await operations({
      method: incoming.method ?? '',
      url: new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'localhost'}`),
      headers: incoming.headers,
      body,
    });
    if (reply === 'cut') return void incoming.socket.destroy();
    write(response, reply);
  }

  const port = await listen(server);
  const close = async (): Promise<void> => {
    clearTimeout(life);
    settling.abort();
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
    await deliveries.close();
  };
  const life = setTimeout(() => void close(), LONGEST_LIFE_MS);
  life.unref();
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ key: KEY, books, deliveries, close },
    registerByHand(url, secret = family.events?.newSecret() ?? randomUUID()) {
      deliveries.endpoints.push({ url, secret });
      return secret;
    },
  };
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) throw new Error(`The fake reads at most ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

function write(response: ServerResponse, { status, headers, body, text }: Reply): void {
  const type = text !== undefined ? 'text/plain; charset=utf-8' : 'application/json';
  const bytes = text ?? (body === undefined ? '' : JSON.stringify(body));
  response.writeHead(status, { ...(bytes !== '' && { 'content-type': type }), ...headers }).end(bytes);
}
