import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { LoteError } from '../domain/errors.ts';
import { createConsoleApp } from './console-app.ts';
import type { ConsoleOptions } from './console-options.ts';

/** Hosts on which only this machine reaches the console. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);
/** A browser sends its headers at once; who needs longer is holding a connection. */
const HEADERS_TIMEOUT_MS = 10_000;
/** A hundred megabytes over an office's wireless network. */
const REQUEST_TIMEOUT_MS = 5 * 60_000;

export interface StartConsole extends Omit<ConsoleOptions, 'access'> {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** A console that listens. `url` has no slash at its end; `close` resolves when the requests in flight are answered. */
export interface RunningConsole {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves the console. Off loopback everything needs the token, or people who are signed in.
 * @throws LoteError `configuration-invalid` off loopback without a token, `port-taken`
 */
export async function startConsole({ host, port, ...options }: StartConsole): Promise<RunningConsole> {
  const loopback = LOOPBACK_HOSTS.has(host);
  if (!loopback && (options.token ?? '') === '' && options.people === undefined) {
    throw new LoteError(
      'configuration-invalid',
      `Starting the console: on an address other than loopback a token must be set, found CONSOLE_HOST=${host} and no token. Use 127.0.0.1, or set a token.`,
    );
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
  await listening(server, { host, port });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    close: () => closed(server),
  };
}

function listening(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(listenError(cause, { host, port })));
    server.listen({ host, port }, resolve);
  });
}

function listenError(cause: Error, { host, port }: { readonly host: string; readonly port: number }): Error {
  if (!('code' in cause) || cause.code !== 'EADDRINUSE') return cause;
  return new LoteError(
    'port-taken',
    `Starting the console: port ${port} of ${host} must be free, found another process on it. Set CONSOLE_PORT to another one.`,
    { cause },
  );
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    // A browser keeps its connections for minutes; requests in flight end first.
    server.closeIdleConnections();
  });
}
