import type { Server } from 'node:http';

/** How long a closing server lets requests end that have begun. */
const CLOSE_GRACE_MS = 5_000;

/** Takes no more connections, and resolves when the requests in flight are answered, after 5 s at the latest. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // A connection without a request, or with a part of one, is not idle to Node: browsers open such connections in advance.
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    // A browser keeps its connections for minutes; requests in flight end first.
    server.closeIdleConnections();
  });
}
