import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  const target = new URL(targetUrl);
  const front = { script: (() => 'pass') as FrontScript, here: 0, mostAtOnce: 0, ahead: 0 as number | null };
  const server = createServer((incoming, response) => {
    front.here += 1;
    front.mostAtOnce = Math.max(front.mostAtOnce, front.here);
    void serve(incoming, response)
      .catch(() => incoming.socket.destroy())
      .finally(() => (front.here -= 1));
  });

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
