import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LoteError } from '../../domain/errors.ts';

/** A scrape's request is a line and some headers. */
const REQUEST_TIMEOUT_MS = 5_000;
const PATH = '/metrics';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Prometheus' text format. */
  readonly text: () => Promise<string>;
}

/**
 * Serves metrics, and nothing else.
 * @throws LoteError `port-taken`; `configuration-invalid` when the address cannot be listened on for another reason
 */
export async function startMetricsServer(
  options: MetricsServerOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { host, port } = options;
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => void answer(options, request, response),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenFailure(cause, { host, port })));
    server.listen({ host, port }, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${PATH}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listenFailure(
  cause: NodeJS.ErrnoException,
  { host, port }: Pick<MetricsServerOptions, 'host' | 'port'>,
): LoteError {
  if (cause.code === 'EADDRINUSE') {
    const message = `Serving metrics: ${host}:${port} must be free. Set METRICS_PORT to another port.`;
    return new LoteError('port-taken', message, { cause });
  }
  const message = `Serving metrics: this process must be able to listen on ${host}:${port}; found ${cause.code ?? cause.name}. Correct METRICS_HOST or METRICS_PORT.`;
  return new LoteError('configuration-invalid', message, { cause });
}

async function answer(
  { text }: MetricsServerOptions,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (url.split('?')[0] !== PATH) return void response.writeHead(404).end();
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  try {
    const body = await text();
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body);
  } catch {
    response.writeHead(500).end();
  }
}
