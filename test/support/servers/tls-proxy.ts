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
  /** Cuts every connection, and trusts only this certificate of a client from now on. */
  trust(certificate: string): void;
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
  const context = (ca: string) => ({ ...own, ca: [ca] });
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    trust(certificate) {
      server.setSecureContext(context(certificate));
      cut();
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
