import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOn, type ListenPlace } from '../../network/listen.ts';

/** A probe's request is a line and some headers. */
const REQUEST_TIMEOUT_MS = 5_000;

/** What is asked of a process by the machines that watch it. */
export interface ProbeServerOptions extends ListenPlace {
  /** Answers a GET or HEAD of a path, without its query; false: there is no such path. */
  readonly answer: (path: string, response: ServerResponse) => Promise<boolean>;
}

/**
 * Serves short answers to probes and scrapes. Closing cuts its connections: a probe asks again.
 * @throws LoteError `port-taken`; `configuration-invalid` when the address cannot be listened on for another reason
 */
export async function startProbeServer(
  options: ProbeServerOptions,
): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => void respond(options, request, response),
  );
  const { origin } = await listenOn(server, options);
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  { answer }: ProbeServerOptions,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  try {
    const known = await answer(url.split('?')[0] ?? '', response);
    if (!known) response.writeHead(404).end();
  } catch {
    if (response.headersSent) return void response.destroy();
    response.writeHead(500).end();
  }
}
