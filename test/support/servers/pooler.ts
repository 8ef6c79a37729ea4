import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

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
