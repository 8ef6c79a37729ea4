import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LoteError } from '../domain/errors.ts';

/** The address at which a server must listen, and the words for errors about it. */
export interface ListenPlace {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** The attempted action that begins an error, such as `Serving metrics`. */
  readonly what: string;
  /** Prefix of the variables `…_HOST` and `…_PORT` that choose the address. */
  readonly variables: string;
  /** Name of the variable with the host. Optional: the default is `…_HOST` with that prefix. */
  readonly hostVariable?: string;
}

/** The address at which a server listens. */
export interface Listening {
  readonly port: number;
  /** `http://host:port`, without a slash at its end. */
  readonly origin: string;
}

/**
 * Makes a server listen. A later error of one connection, such as no free file descriptor, does not end the process.
 * @throws LoteError `port-taken`; `configuration-invalid` when the address cannot be listened on for another reason
 */
export async function listenOn(server: Server, place: ListenPlace): Promise<Listening> {
  const { host, port } = place;
  await new Promise<void>((resolve, reject) => {
    function refuse(cause: NodeJS.ErrnoException): void {
      reject(listenFailure(cause, place));
    }
    server.once('error', refuse);
    server.listen({ host, port }, () => {
      server.off('error', refuse);
      // An error without a listener would end the process.
      server.on('error', () => undefined);
      resolve();
    });
  });
  const bound = (server.address() as AddressInfo).port;
  return { port: bound, origin: `http://${host.includes(':') ? `[${host}]` : host}:${bound}` };
}

function listenFailure(
  cause: NodeJS.ErrnoException,
  { host, port, what, variables, hostVariable }: ListenPlace,
): LoteError {
  if (cause.code === 'EADDRINUSE') {
    const message = `${what}: ${host}:${port} must be free, found another process on it. Set ${variables}_PORT to another port.`;
    return new LoteError('port-taken', message, { cause });
  }
  const message = `${what}: this process must be able to listen on ${host}:${port}, found ${cause.code ?? cause.name}. Correct ${hostVariable ?? `${variables}_HOST`} or ${variables}_PORT.`;
  return new LoteError('configuration-invalid', message, { cause });
}

/** How long a closing server waits for requests that have begun. */
const CLOSE_GRACE_MS = 5_000;
/** A closing server closes an answered connection within this time. */
const LOOK_MS = 100;

/**
 * Stops accepting connections, and resolves when the requests in flight are answered, after 5 s at the latest. A
 * connection that stays open, as a busy sender's does, gets at most one more answer, which announces the end: otherwise
 * its last requests would be cut.
 */
export function closeServer(server: Server): Promise<void> {
  server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
  return new Promise((resolve) => {
    // Node does not count a connection without a complete request as idle; browsers open such connections in advance.
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    // Browsers keep connections for minutes, so the server closes each connection after its request in flight has ended.
    const look = setInterval(() => server.closeIdleConnections(), LOOK_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(look);
      resolve();
    });
  });
}
