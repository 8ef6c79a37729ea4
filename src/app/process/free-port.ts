import { createServer } from 'node:http';
import { LoteError } from '../../domain/errors.ts';
import { closeServer, listenOn } from '../../platform/listen.ts';

/** A machine with this many listeners in a row has other trouble; then the system chooses. */
const PORTS_TRIED = 100;
const LAST_PORT = 65_535;

/** A port that a part wants to listen on, and what may be done when it is taken. */
export interface PortWish {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** True when the port was set, or a real service expects us there: then no other will do. */
  readonly explicit: boolean;
  /** The variable `…_PORT` that sets it, named in the error. */
  readonly variable: string;
  /** Ports promised to another part that has not begun to listen. */
  readonly reserved?: readonly number[];
}

/**
 * The port wished for, or for a default one the next free one. Another process may take it before the caller listens there.
 * @throws LoteError `port-taken` when a port that was set is taken; `configuration-invalid` when this process cannot listen on the host
 */
export async function choosePort({ host, port, explicit, variable, reserved = [] }: PortWish): Promise<number> {
  const variables = variable.replace(/_PORT$/u, '');
  const last = explicit ? port : Math.min(port + PORTS_TRIED - 1, LAST_PORT);
  for (let next = port; next <= last; next += 1) {
    if (next !== 0 && reserved.includes(next)) continue;
    try {
      return await probe(host, next, variables);
    } catch (error) {
      if (explicit || !(error instanceof LoteError && error.code === 'port-taken')) throw error;
    }
  }
  return probe(host, 0, variables);
}

/** The port, listened on for a moment. */
async function probe(host: string, wished: number, variables: string): Promise<number> {
  const server = createServer();
  const { port } = await listenOn(server, { host, port: wished, what: 'Looking for a port', variables });
  await closeServer(server);
  return port;
}
