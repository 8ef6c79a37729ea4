import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { listen } from './own-port.ts';

export type TcpProxy = Awaited<ReturnType<typeof tcpProxy>>;

/** A TCP proxy before a server, `host:port`. The test can cut its connections. */
export async function tcpProxy(target: string) {
  let [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  let delayMs: number | null = null;
  const server = createServer((inward) => {
    const outward = connect(Number(port), host);
    for (const socket of [inward, outward]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    inward.pipe(outward);
    (delayMs === null ? outward : outward.pipe(delayed(() => delayMs ?? 0))).pipe(inward);
  });
  const address = `127.0.0.1:${await listen(server)}`;
  /** Resets all connections; accepts new ones. */
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  return {
    ...{ address, reset },
    /** Delays the answers of new connections, and keeps their order. */
    delayAnswers: (ms: number) => void (delayMs = ms),
    /** Resets all connections; new ones go to this server. */
    leadTo(other: string) {
      [host = '', port = ''] = other.split(':');
      reset();
    },
    /** Keeps all connections open, but passes no data through them; new connections work. */
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    /** Ends all connections and accepts no new ones. */
    async cut() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function delayed(delayMs: () => number): Transform {
  let waiting = 0;
  let end = (): void => undefined;
  return new Transform({
    transform(chunk, _, done) {
      waiting += 1;
      // Timers of one length keep their order, and no chunk waits for the previous chunk.
      setTimeout(() => {
        waiting -= 1;
        if (!this.destroyed) this.push(chunk);
        if (waiting === 0) end();
      }, delayMs());
      done();
    },
    flush(done) {
      if (waiting === 0) done();
      else end = done;
    },
  });
}

/** First byte of the message BackendKeyData. Its first field, after type and length, is a process id. */
const KEY_DATA = 'K'.charCodeAt(0);
const FIRST_FIELD = 5;

/**
 * Starts a proxy like PgBouncer before a server that asks for no password: at the start of a connection it sends a
 * process id that no server process has.
 */
export async function pooler(target: string) {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(Number(port), host);
    for (const socket of [inward, outward]) sockets.add(socket.on('error', () => undefined));
    inward.pipe(outward);
    let begun = Buffer.alloc(0);
    outward.on('data', function hear(chunk: Buffer) {
      begun = Buffer.concat([begun, chunk]);
      const at = keyDataIn(begun);
      if (at === null) return;
      outward.off('data', hear);
      begun.writeInt32BE(-1, at + FIRST_FIELD);
      inward.write(begun);
      outward.pipe(inward);
    });
  });
  const address = `127.0.0.1:${await listen(server)}`;
  return {
    address,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Returns where the BackendKeyData begins; null if the message is not complete yet. */
function keyDataIn(bytes: Buffer): number | null {
  for (let at = 0; at + FIRST_FIELD <= bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (end > bytes.length) return null;
    if (bytes[at] === KEY_DATA) return at;
    at = end;
  }
  return null;
}

/** Starts a server that accepts connections and says nothing. */
export async function silentServer() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  return {
    ...{ server, address: `127.0.0.1:${await listen(server)}` },
    /** The number of connections so far. */
    connections: () => sockets.length,
    async remove() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
