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

/** Answers a GET or HEAD of a path without its query; null means that the path does not exist. */
type AnswerPath = (path: string) => Promise<Answer | null>;

/** A running server of this process. */
interface ProbeServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves short answers to probes and scrapes. Closing cuts its connections, because probes ask again. */
async function startProbeServer(path: string, place: ListenPlace, answer: AnswerPath): Promise<ProbeServer> {
  const limits = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
  const server = createServer(limits, (request, response) => void respond(answer, request, response));
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

async function respond(answer: AnswerPath, { method, url = '' }: IncomingMessage, response: ServerResponse) {
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  try {
    const found = await answer(url.split('?')[0] ?? '');
    if (found === null) return void response.writeHead(404).end();
    response.writeHead(found.status, { 'content-type': found.type, 'cache-control': 'no-store' }).end(found.text);
  } catch {
    response.writeHead(500).end();
  }
}

/** Where to listen; `port` 0 means any free port. */
type Place = Pick<ListenPlace, 'host' | 'port'>;

/**
 * Answers liveness and readiness of a process that serves nothing else.
 * @throws LoteError `port-taken`; `configuration-invalid` when the address cannot be listened on for another reason
 */
export function startHealthServer(place: Place, ready: () => Promise<Readiness>): Promise<ProbeServer> {
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

/**
 * Serves metrics in Prometheus' text format, and nothing else.
 * @throws as `startHealthServer`
 */
export function startMetricsServer(place: Place, text: () => Promise<string>): Promise<ProbeServer> {
  const type = 'text/plain; version=0.0.4; charset=utf-8';
  const asked = { ...place, what: 'Serving metrics', variables: 'METRICS', hostVariable: 'HEALTH_HOST' };
  return startProbeServer('/metrics', asked, async (path) =>
    path === '/metrics' ? { status: 200, type, text: await text() } : null,
  );
}
