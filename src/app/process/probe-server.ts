import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Readiness } from '../../domain/records/readiness.ts';
import { listenOn, type ListenPlace } from '../../platform/listen.ts';

/** A probe's request is a line and some headers, so it arrives quickly. */
const REQUEST_TIMEOUT_MS = 5_000;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Serves short answers to probes and scrapes; a path without an answer is not found. Closing cuts its connections, because probes ask again. */
async function startProbeServer(
  path: string,
  place: ListenPlace,
  answer: (path: string) => Promise<Answer | null>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  async function respond({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
    try {
      const found = await answer(url.split('?')[0] ?? '');
      if (found === null) return void response.writeHead(404).end();
      response.writeHead(found.status, { 'content-type': found.type, 'cache-control': 'no-store' }).end(found.text);
    } catch {
      response.writeHead(500).end();
    }
  }
  const limits = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
  const server = createServer(limits, (request, response) => void respond(request, response));
  const { origin } = await listenOn(server, place);
  return {
    url: `${origin}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Where to listen; `port` 0 means any free port. */
type Place = Pick<ListenPlace, 'host' | 'port'>;

/**
 * Answers liveness and readiness of a process that serves nothing else.
 * @throws LoteError `port-taken`; `configuration-invalid` when the address cannot be listened on for another reason
 */
export function startHealthServer(place: Place, ready: () => Promise<Readiness>) {
  const json = (status: number, value: object): Answer => ({
    ...{ status, type: 'application/json', text: JSON.stringify(value) },
  });
  const asked = { ...place, what: 'Answering health checks', variables: 'HEALTH' };
  return startProbeServer('/health', asked, async (path) => {
    if (path === '/health/live') return json(200, { status: 'live' });
    if (path !== '/health' && path !== '/health/ready') return null;
    const readiness = await ready();
    return json(readiness.status === 'ready' ? 200 : 503, readiness);
  });
}

/** Serves metrics in Prometheus' text format, and nothing else. @throws as `startHealthServer` */
export function startMetricsServer(place: Place, text: () => Promise<string>) {
  const type = 'text/plain; version=0.0.4; charset=utf-8';
  const asked = { ...place, what: 'Serving metrics', variables: 'METRICS', hostVariable: 'HEALTH_HOST' };
  return startProbeServer('/metrics', asked, async (path) =>
    path === '/metrics' ? { status: 200, type, text: await text() } : null,
  );
}
