import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { memoryStore } from '../../../src/sandbox/store.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { type Engine, simulatedEngine } from '../../../src/sandbox/engine.ts';

/** One request of Lote to the service, as it arrived at the front. */
export interface FrontRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly authorization: string | null;
  readonly body: string;
  readonly at: number;
  /** How often this very request (method, path, key) came before, this one included. */
  readonly nth: number;
  /** Its connection, counted from 1: requests of one number came over the same kept-alive connection. */
  readonly connection: number;
  /** Aborted once that connection is closed. */
  readonly closed: AbortSignal;
}

/** What the front does with a request: pass it on, answer by itself, or cut the connection before or after passing it on. */
export type FrontAction = 'pass' | 'cut' | 'pass-and-cut' | FrontAnswer;

export interface FrontAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The service does its work all the same. */
  readonly afterPassing?: true;
}

export type FrontScript = (request: FrontRequest) => FrontAction | Promise<FrontAction>;

/** A real HTTP server between Lote and the sandbox: it sees everything, and a test may make it misbehave at any time. */
export interface ServiceFront {
  readonly url: string;
  readonly requests: readonly FrontRequest[];
  /** The largest number of requests that were here at one moment. */
  readonly mostAtOnce: number;
  script: FrontScript;
  /** By how much the service's time is ahead, in milliseconds, as the heads of its answers have it; 0 at first. Null: they name none. */
  ahead: number | null;
  close(): Promise<void>;
}

export async function startServiceFront(targetUrl: string): Promise<ServiceFront> {
  const requests: FrontRequest[] = [];
  const times = new Map<string, number>();
  const connections = new Map<Socket, Pick<FrontRequest, 'connection' | 'closed'>>();
  const target = new URL(targetUrl);
  const front = { script: (() => 'pass') as FrontScript, here: 0, mostAtOnce: 0, ahead: 0 as number | null };
  const server = createServer((incoming, response) => {
    front.here += 1;
    front.mostAtOnce = Math.max(front.mostAtOnce, front.here);
    void serve(incoming, response)
      .catch(() => incoming.socket.destroy())
      .finally(() => (front.here -= 1));
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

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get mostAtOnce() {
      return front.mostAtOnce;
    },
    get script() {
      return front.script;
    },
    set script(script) {
      front.script = script;
    },
    get ahead() {
      return front.ahead;
    },
    set ahead(ahead) {
      front.ahead = ahead;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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

/** Method, path, headers and bytes as they came; rejects when the target cuts the connection. */
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

export const SANDBOX_KEY = 'sk_test_sandbox';

/** A sandbox that outlives whatever the test kills: its books are the judge. */
export function independentSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return startSandbox({ port: 0, store: memoryStore(), apiKeys: [SANDBOX_KEY], ...options });
}

export interface GatedEngine {
  readonly engine: Engine;
  /** Lets it speak of so many invoices more, the oldest first; left out: of all. */
  open(invoices?: number): void;
}

/** The simulated engine, which says nothing of any invoice until the test lets it: a batch then runs for as long as a test needs. */
export function gatedEngine(): GatedEngine {
  return gated(simulatedEngine({ settleMs: 0 }));
}

/** An engine of the test's own behind the same gate. */
export function gated(engine: Engine): GatedEngine {
  let free = 0;
  const waiting: (() => void)[] = [];
  function letGo(): void {
    for (; free > 0 && waiting.length > 0; free -= 1) waiting.shift()?.();
  }
  return {
    engine: {
      async process(invoice) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          letGo();
        });
        return engine.process(invoice);
      },
    },
    open(invoices = Infinity) {
      free += invoices;
      letGo();
    },
  };
}
