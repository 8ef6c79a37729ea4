import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { Readiness } from '../../domain/records/readiness.ts';
import { listenOn, type ListenPlace } from '../../platform/listen.ts';

/** A probe's request is a line and some headers, so it arrives quickly. */
const REQUEST_TIMEOUT_MS = 5_000;

/** Serves short answers to probes and scrapes. Closing cuts its connections, because probes ask again. */
async function startProbeServer(app: Hono, path: string, place: ListenPlace) {
  app.onError((_, context) => context.body(null, 500));
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
  }) as Server;
  const { origin } = await listenOn(server, place);
  return {
    url: `${origin}${path}`,
    close: () =>
      new Promise<void>((resolve) => {
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
  const app = new Hono();
  app.get('/health/live', (context) => context.json({ status: 'live' }));
  app.on('GET', ['/health', '/health/ready'], async (context) => {
    const readiness = await ready();
    return context.json(readiness, readiness.status === 'ready' ? 200 : 503);
  });
  return startProbeServer(app, '/health', { ...place, what: 'Answering health checks', variables: 'HEALTH' });
}

/** Serves metrics in Prometheus' text format, and nothing else. @throws as `startHealthServer` */
export function startMetricsServer(place: Place, text: () => Promise<string>) {
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
  const app = new Hono();
  app.get('/metrics', async (context) => context.body(await text(), 200, headers));
  const asked = { what: 'Serving metrics', variables: 'METRICS', hostVariable: 'HEALTH_HOST' };
  return startProbeServer(app, '/metrics', { ...place, ...asked });
}
