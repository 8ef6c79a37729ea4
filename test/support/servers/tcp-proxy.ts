import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

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
  /** Every connection is reset; new ones lead to this server. */
  leadTo(target: string): void;
}

export async function tcpProxy(target: string): Promise<TcpProxy> {
  let [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(Number(port), host);
    for (const socket of [inward, outward]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    inward.pipe(outward).pipe(inward);
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
