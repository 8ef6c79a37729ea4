import type { ServerResponse } from 'node:http';
import type { Readiness } from '../../domain/ports/readiness.ts';
import { startProbeServer } from './probe-server.ts';

export interface HealthServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly ready: () => Promise<Readiness>;
}

/**
 * Liveness and readiness of a process that serves nothing else.
 * @throws LoteError `port-taken`; `configuration-invalid` when the address cannot be listened on for another reason
 */
export async function startHealthServer(
  options: HealthServerOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { host, port, ready } = options;
  const server = await startProbeServer({
    ...{ host, port, what: 'Answering health checks', variables: 'HEALTH' },
    answer: (path, response) => answer(path, response, ready),
  });
  return { url: `${server.origin}/health`, close: () => server.close() };
}

async function answer(path: string, response: ServerResponse, ready: HealthServerOptions['ready']): Promise<boolean> {
  if (path === '/health/live') return json(response, 200, { status: 'live' });
  if (path !== '/health' && path !== '/health/ready') return false;
  const readiness = await ready();
  return json(response, readiness.status === 'ready' ? 200 : 503, readiness);
}

function json(response: ServerResponse, status: number, value: object): true {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(value));
  return true;
}
