import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';

/** A way to a server that the test can cut. */
export interface TcpProxy {
  /** host:port */
  readonly address: string;
  /** Every connection is reset, and no new one is taken. */
  cut(): Promise<void>;
  /** Every connection is reset; new ones are taken. */
  reset(): void;
  /** Every connection stays open, and nothing comes through it any more; new ones are taken. */
  freeze(): void;
  /** Each answer of a connection that is made from now on comes so many milliseconds later, in the order of the answers. */
  delayAnswers(ms: number): void;
  /** Every connection is reset; new ones lead to this server. */
  leadTo(target: string): void;
}

export async function tcpProxy(target: string): Promise<TcpProxy> {
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset,
    delayAnswers: (ms) => (delayMs = ms),
    leadTo(other) {
      [host = '', port = ''] = other.split(':');
      reset();
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
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
      // Timers of one length keep their order, and no chunk waits for the one before it.
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

/** First byte of BackendKeyData; its first field, after type and length, is a process id. */
const KEY_DATA = 'K'.charCodeAt(0);
const FIRST_FIELD = 5;

/** What a pooler shows of itself at the beginning of a connection: a process id that no server process has. */
export interface Pooler {
  /** host:port */
  readonly address: string;
  close(): Promise<void>;
}

/** Stands before a server that asks for no password, as PgBouncer does. */
export async function pooler(target: string): Promise<Pooler> {
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Where the whole message begins; null: it has not come yet. */
function keyDataIn(bytes: Buffer): number | null {
  for (let at = 0; at + FIRST_FIELD <= bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (end > bytes.length) return null;
    if (bytes[at] === KEY_DATA) return at;
    at = end;
  }
  return null;
}

/** Key and certificate in PEM. */
interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** TLS in front of a server on loopback, for clients whose certificate it trusts. */
export interface TlsProxy {
  /** `localhost:port`. */
  readonly address: string;
  /** Cuts every connection, and trusts only these certificates of clients from now on. */
  trust(...certificates: readonly string[]): void;
  /** Cuts every connection, and takes no new one. */
  goAway(): Promise<void>;
  /** Takes connections again, at the same address. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** Starts one that speaks HTTP/2, as gRPC does. `target`: `host:port`. */
export async function tlsProxy(target: string, own: KeyPair, trusted: string): Promise<TlsProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const context = (...ca: string[]) => ({ ...own, ca });
  const server = createTlsServer(
    { ...context(trusted), requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] },
    (socket) => {
      const behind = connect(Number(port), host);
      keep(socket);
      keep(behind);
      socket.on('close', () => behind.destroy()).pipe(behind);
      behind.on('close', () => socket.destroy()).pipe(socket);
    },
  );
  server.on('tlsClientError', () => undefined);
  const listen = (at: number): Promise<void> => new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const ownPort = (server.address() as AddressInfo).port;
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };
  return {
    address: `localhost:${ownPort}`,
    trust(...certificates) {
      server.setSecureContext(context(...certificates));
      cut();
    },
    goAway: close,
    comeBack: () => listen(ownPort),
    close,
  };
}
