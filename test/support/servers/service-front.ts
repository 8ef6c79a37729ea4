import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { listen } from './own-port.ts';
import { memoryStore } from '../../../src/sandbox/store.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { type Engine, simulatedEngine } from '../../../src/sandbox/engine.ts';

/** One request of Lote to the service, as received by the front. */
export interface FrontRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly authorization: string | null;
  readonly body: string;
  readonly at: number;
  /** How often this request (method, path, key) has come so far, including this one. */
  readonly nth: number;
  /** The number of the connection, from 1. Requests over the same kept-alive connection have the same number. */
  readonly connection: number;
  /** Aborted when the connection closes. */
  readonly closed: AbortSignal;
}

/** The front can pass a request on, answer it by itself, or cut the connection before or after passing it on. */
export type FrontAction = 'pass' | 'cut' | 'pass-and-cut' | FrontAnswer;

export interface FrontAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the front also passes the request on, so that the service does its work. */
  readonly afterPassing?: true;
}

export type FrontScript = (request: FrontRequest) => FrontAction | Promise<FrontAction>;

/** A real HTTP server between Lote and the sandbox. It sees all requests, and a test can make it misbehave. */
export type ServiceFront = Awaited<ReturnType<typeof startServiceFront>>;

export async function startServiceFront(targetUrl: string) {
  const requests: FrontRequest[] = [];
  const times = new Map<string, number>();
  const connections = new Map<Socket, Pick<FrontRequest, 'connection' | 'closed'>>();
  const target = new URL(targetUrl);
  let here = 0;
  const front = {
    url: '',
    requests: requests as readonly FrontRequest[],
    /** The largest number of requests at the same time. */
    mostAtOnce: 0,
    script: (() => 'pass') as FrontScript,
    /** How far the `Date` of the answers is ahead, in milliseconds. Null: the answers have no `Date`. */
    ahead: 0 as number | null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((incoming, response) => {
    here += 1;
    front.mostAtOnce = Math.max(front.mostAtOnce, here);
    void serve(incoming, response)
      .catch(() => incoming.socket.destroy())
      .finally(() => (here -= 1));
  });

  function connectionOf(socket: Socket): Pick<FrontRequest, 'connection' | 'closed'> {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const closing = new AbortController();
    socket.once('close', () => closing.abort());
    const fresh = { connection: connections.size + 1, closed: closing.signal };
    connections.set(socket, fresh);
    return fresh;
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(incoming);
    const seen = note(incoming, body);
    response.sendDate = false;
    const dated = front.ahead === null ? {} : { date: new Date(Date.now() + front.ahead).toUTCString() };
    const action = await front.script(seen);
    if (action === 'cut') return void incoming.socket.destroy();
    if (typeof action === 'object') {
      if (action.afterPassing === true) await passOn(target, incoming, body);
      const text = JSON.stringify(action.json ?? { error: { code: 'scripted', message: 'The test said so' } });
      response.writeHead(action.status, { 'content-type': 'application/json', ...dated, ...action.headers }).end(text);
      return;
    }
    const answer = await passOn(target, incoming, body);
    if (action === 'pass-and-cut') return void incoming.socket.destroy();
    const { date: _own, ...headers } = answer.headers;
    response.writeHead(answer.status, { ...headers, ...dated }).end(answer.body);
  }

  function note(incoming: IncomingMessage, body: Buffer): FrontRequest {
    const method = incoming.method ?? '';
    const path = incoming.url ?? '';
    const key = incoming.headers['idempotency-key'];
    const own = typeof key === 'string' ? key : null;
    const same = `${method} ${path} ${own}`;
    const nth = (times.get(same) ?? 0) + 1;
    times.set(same, nth);
    const seen: FrontRequest = {
      method,
      path,
      key: own,
      authorization: incoming.headers.authorization ?? null,
      body: body.toString('utf8'),
      at: Date.now(),
      nth,
      ...connectionOf(incoming.socket),
    };
    requests.push(seen);
    return seen;
  }

  front.url = `http://127.0.0.1:${await listen(server)}`;
  return front;
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface PassedAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

/** Passes a request on with the same method, path, headers and bytes. Rejects if the target cuts the connection. */
function passOn(target: URL, incoming: IncomingMessage, body: Buffer): Promise<PassedAnswer> {
  return new Promise((resolve, reject) => {
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    const outgoing = httpRequest(
      { host: target.hostname, port: target.port, method: incoming.method, path: incoming.url, headers },
      (answer) => {
        readAll(answer).then((bytes) => {
          const { 'transfer-encoding': _encoding, connection: _hop, ...kept } = answer.headers;
          const given = Object.entries(kept).filter(
            (entry): entry is [string, string | string[]] => entry[1] !== undefined,
          );
          resolve({ status: answer.statusCode ?? 502, headers: Object.fromEntries(given), body: bytes });
        }, reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** True for a POST of an invoice. */
export function isInvoice({ method, path }: FrontRequest): boolean {
  return method === 'POST' && path === '/v1/invoices';
}

export const SANDBOX_KEY = 'sk_test_sandbox';

/** Expects that the books hold so many invoices, each issued and none twice. */
export function issuedOnce(sandbox: Sandbox): (invoices: number) => void {
  return (invoices) => {
    const { duplicates, totals } = sandbox.books();
    expect(duplicates).toEqual([]);
    expect(totals).toMatchObject({ invoices, issued: invoices });
  };
}

/** Starts a sandbox that outlives the processes that the test kills. The test judges by its books. */
export function independentSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return startSandbox({ port: 0, store: memoryStore(), apiKeys: [SANDBOX_KEY], ...options });
}

export type GatedEngine = ReturnType<typeof gated>;

/** Makes a simulated engine that settles no invoice until the test allows it: a batch then runs as long as needed. */
export function gatedEngine() {
  return gated(simulatedEngine({ settleMs: 0 }));
}

/** Puts the test's own engine behind the same gate. */
export function gated(engine: Engine) {
  let free = 0;
  const waiting: (() => void)[] = [];
  function letGo(): void {
    for (; free > 0 && waiting.length > 0; free -= 1) waiting.shift()?.();
  }
  return {
    engine: {
      async process(invoice: Parameters<Engine['process']>[0]) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          letGo();
        });
        return engine.process(invoice);
      },
    },
    /** Lets the engine settle `invoices` more invoices, the oldest first. */
    open(invoices = Infinity) {
      free += invoices;
      letGo();
    },
  };
}
