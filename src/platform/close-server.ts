import type { Server } from 'node:http';

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
