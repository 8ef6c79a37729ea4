import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range from which the system takes ports for outgoing connections: nobody takes it before it is listened on. */
const LOWEST = 20_000;
const HIGHEST = 30_000;

/** A port for a server that the test must name before it starts. */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
