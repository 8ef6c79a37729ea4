import { createServer } from 'node:http';
import type { ListenConfig } from '../config/config.ts';
import { LoteError } from '../../domain/errors.ts';
import { closeServer, listenOn } from '../../platform/listen.ts';

/** After this many taken ports in a row, the system chooses a port. */
const PORTS_TRIED = 100;
const LAST_PORT = 65_535;

/** A port that a part wants to listen on. `reserved` are ports promised to another part that does not listen yet. */
type PortWish = ListenConfig & { readonly reserved?: readonly number[] };

/**
 * Returns the wished port or, for a default port, the next free one. Another process may take it before the caller listens.
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

/** Listens on the port for a moment and returns its number. */
async function probe(host: string, wished: number, variables: string): Promise<number> {
  const server = createServer();
  const { port } = await listenOn(server, { host, port: wished, what: 'Looking for a port', variables });
  await closeServer(server);
  return port;
}
