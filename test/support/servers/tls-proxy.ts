import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer } from 'node:tls';

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
  const server = createServer(
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
