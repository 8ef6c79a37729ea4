import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LoteError } from '../domain/errors.ts';

/** Where a server listens, and who asks for it. */
export interface ListenPlace {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** What is attempted, as errors begin: `Serving metrics`. */
  readonly what: string;
  /** Name of the variables `…_HOST` and `…_PORT` that choose the address. */
  readonly variables: string;
  /** Left out: `…_HOST` of these. */
  readonly hostVariable?: string;
}

/** Where a server listens now. */
export interface Listening {
  readonly port: number;
  /** `http://host:port`, without a slash at its end. */
  readonly origin: string;
}

/**
 * Makes a server listen. What goes wrong with a single connection after that, such as one for which there is no file,
 * ends nothing.
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

/** How long a closing server lets requests end that have begun. */
const CLOSE_GRACE_MS = 5_000;
/** An answered connection waits at most so long for its end. */
const LOOK_MS = 100;

/**
 * Takes no more connections, and resolves when the requests in flight are answered, after 5 s at the latest. A connection that stays open, as a busy
 * sender's does, gets one more answer at most, which says that it is the last: otherwise the sender would go on, and its last requests would be cut.
 */
export function closeServer(server: Server): Promise<void> {
  server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
  return new Promise((resolve) => {
    // A connection without a request, or with a part of one, is not idle to Node: browsers open such connections in advance.
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    // A browser keeps its connections for minutes; requests in flight end first.
    const look = setInterval(() => server.closeIdleConnections(), LOOK_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(look);
      resolve();
    });
  });
}
