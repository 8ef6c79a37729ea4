import { once } from 'node:events';
import { createServer } from 'node:net';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';

/** A machine with this many listeners in a row has other trouble; then the system chooses. */
const PORTS_TRIED = 100;
const LAST_PORT = 65_535;

/** A port that a part wants to listen on, and what may be done when it is taken. */
export interface PortWish {
  readonly host: string;
  readonly port: number;
  /** True when the port was set, or a real service expects us there: then no other will do. */
  readonly explicit: boolean;
  /** The variable that sets it, named in the error. */
  readonly variable: string;
  /** Ports promised to another part that has not begun to listen. */
  readonly reserved?: readonly number[];
}

/**
 * Whether the port is free at this moment. Another process may take it afterwards: the caller must still handle
 * EADDRINUSE when it listens.
 */
async function isPortFree(host: string, port: number): Promise<boolean> {
  return (await tryListen(host, port)) !== null;
}

/** A free port, chosen by the system. */
async function anyFreePort(host: string): Promise<number> {
  const port = await tryListen(host, 0);
  if (port === null) throw new LoteError('port-taken', `Asking for a free port on ${host}: the system has none left.`);
  return port;
}

/**
 * The port wished for, or for a default one the next free one.
 * @throws LoteError `port-taken` naming port and variable when a port that was set is taken.
 */
export async function choosePort(wish: PortWish): Promise<number> {
  const { host, port, explicit, reserved = [] } = wish;
  if (port === 0) return anyFreePort(host);
  if (explicit) {
    if (await isPortFree(host, port)) return port;
    throw portTaken(wish);
  }
  for (let next = port; next < port + PORTS_TRIED && next <= LAST_PORT; next += 1) {
    if (!reserved.includes(next) && (await isPortFree(host, next))) return next;
  }
  return anyFreePort(host);
}

function portTaken({ host, port, variable }: PortWish): LoteError {
  return new LoteError(
    'port-taken',
    `Listening on ${host}:${port}: the port must be free; another program listens there. ` +
      `Stop that program, or set ${variable} to a free port.`,
  );
}

/** The port listened on for a moment, or null when it is taken. @throws LoteError `configuration-invalid`: nothing listens on such an address */
async function tryListen(host: string, port: number): Promise<number | null> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    if (isTaken(error)) return null;
    throw cannotListen(host, error);
  }
  const address = server.address();
  const closed = once(server, 'close');
  server.close();
  await closed;
  return typeof address === 'object' && address !== null ? address.port : port;
}

function cannotListen(host: string, cause: unknown): LoteError {
  return new LoteError(
    'configuration-invalid',
    `Looking for a port on ${host}: this process must be able to listen there, found ${errorCode(cause) || String(cause)}. Where a variable …_HOST names the address, correct it; ` +
      'at the start of a machine addresses and names may come up later.',
    { cause },
  );
}

/** EACCES is a port below 1024 without the right to it: as unusable as a taken one. */
function isTaken(error: unknown): boolean {
  return ['EADDRINUSE', 'EACCES'].includes(errorCode(error));
}
