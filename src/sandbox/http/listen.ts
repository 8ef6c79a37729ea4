import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestHandler } from './handle-request.ts';

export interface Listening {
  readonly port: number;
  /** Takes no new request, lets those under way end, cuts what is left after the grace. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handle: RequestHandler;
}

// Longer than clients keep a connection, so that it is they who close it and never a request that meets a closing one.
const KEEP_ALIVE_MS = 72_000;
// A client that sends its request more slowly than this is no client.
const REQUEST_TIMEOUT_MS = 30_000;
const CLOSE_GRACE_MS = 2000;
const CLOSE_IDLE_EVERY_MS = 20;

/** Plain node:http: the bench measures its clients with this server in the way, so the server must cost little. */
export async function listen({ host, port, handle }: ListenOptions): Promise<Listening> {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => void handle(request, response),
  );
  const listening = once(server, 'listening');
  server.listen({ host, port });
  try {
    await listening;
  } catch (cause) {
    throw new Error(`Starting the sandbox: ${host}:${port} must be free, and cannot be listened on.`, { cause });
  }
  // An address of a TCP server is an object.
  const { port: actual } = server.address() as AddressInfo;
  return {
    port: actual,
    async close() {
      const closed = once(server, 'close');
      server.close();
      // Again and again: a kept-alive connection that was answering becomes idle only after its answer.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}
