import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LoteError } from '../../domain/errors.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';

/** A probe's request is a line and some headers. */
const REQUEST_TIMEOUT_MS = 5_000;

export interface HealthServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly ready: () => Promise<Readiness>;
}

/**
 * Liveness and readiness of a process that serves nothing else.
 * @throws LoteError `port-taken`
 */
export async function startHealthServer(
  options: HealthServerOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { host, port } = options;
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => void answer(options, request, response),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new LoteError(
          'port-taken',
          `Answering health checks: ${host}:${port} must be free. Set HEALTH_PORT to another port.`,
          {
            cause,
          },
        ),
      ),
    );
    server.listen({ host, port }, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/health`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  { ready }: HealthServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').split('?')[0];
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  if (path === '/health/live') return json(response, 200, { status: 'live' });
  if (path !== '/health' && path !== '/health/ready') return void response.writeHead(404).end();
  const readiness = await ready();
  json(response, readiness.status === 'ready' ? 200 : 503, readiness);
}

function json(response: ServerResponse, status: number, value: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(value));
}
