import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { LoteError } from '../domain/errors.ts';
import { closeServer, listenOn } from '../platform/listen.ts';
import { createConsoleApp } from './console-app.ts';
import type { ConsoleOptions } from './console-options.ts';

/** Hosts on which only this machine reaches the console. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);
/** A browser sends its headers at once; a slower client only holds a connection. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Enough for a hundred megabytes over an office's wireless network. */
const REQUEST_TIMEOUT_MS = 5 * 60_000;
/** A browser opens six connections. Without a limit, one account of the machine could take every file that the process may open. */
const MAX_CONNECTIONS = 200;

export interface StartConsole extends Omit<ConsoleOptions, 'access'> {
  readonly host: string;
  readonly port: number;
}

/** A console that listens. `url` has no slash at its end; `close` resolves when the requests in flight are answered, after 5 s at the latest. */
export interface RunningConsole {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the console. Off loopback, the console needs the token or sign-in. @throws LoteError `configuration-invalid`, `port-taken` */
export async function startConsole({ host, port, ...options }: StartConsole): Promise<RunningConsole> {
  const loopback = LOOPBACK_HOSTS.has(host);
  if (!loopback && (options.token ?? '') === '' && options.people === undefined) {
    const message = `Starting the console: on an address other than loopback a token must be set, found CONSOLE_HOST=${host} and no token. Use 127.0.0.1, or set a token.`;
    throw new LoteError('configuration-invalid', message);
  }
  const app = createConsoleApp({
    ...options,
    access: loopback ? 'loopback' : 'token',
    hosts: [...(options.hosts ?? []), host],
  });
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
  }) as Server;
  server.maxConnections = MAX_CONNECTIONS;
  const bound = await listenOn(server, { host, port, what: 'Starting the console', variables: 'CONSOLE' });
  return {
    url: bound.origin,
    port: bound.port,
    close: () => closeServer(server),
  };
}
