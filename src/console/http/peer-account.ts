import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { Context } from 'hono';

/** `other`: another account of this machine. `unknown`: nothing tells, as on another system than Linux. */
export type PeerAccount = 'own' | 'other' | 'unknown';

const judged = new WeakMap<Socket, PeerAccount>();
const ROOT = 0;
/** The system has no such table, or does not show it. */
const HIDDEN: ReadonlySet<unknown> = new Set(['ENOENT', 'EACCES']);
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const V4 = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/u;
const V6_LOOPBACK = '00000000000000000000000001000000';
const V4_IN_V6 = '0000000000000000FFFF0000';

/** Whose process is at the other end of a loopback connection. Root reads every file anyway, so it counts as `own`. */
export async function peerAccount(context: Context): Promise<PeerAccount> {
  const socket = (context.env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket;
  if (socket === undefined) return 'unknown';
  const known = judged.get(socket);
  if (known !== undefined) return known;
  try {
    const found = await look(socket);
    judged.set(socket, found);
    return found;
  } catch {
    // A client that keeps all files of this process open must not become every account by that. The next request looks again.
    return 'other';
  }
}

async function look(socket: Socket): Promise<PeerAccount> {
  const here = addressesOf(socket.localAddress, socket.localPort);
  const there = addressesOf(socket.remoteAddress, socket.remotePort);
  const own = process.getuid?.();
  if (own === undefined || here.length === 0 || there.length === 0) return 'unknown';
  const connections = (await Promise.all(TABLES.map(readTable))).flat();
  const between = (from: readonly string[], to: readonly string[]) =>
    connections.find(({ local, remote }) => from.includes(local) && to.includes(remote));
  // Without our own end in the table it tells nothing. A peer that has closed its end has no account any more.
  if (between(here, there) === undefined) return 'unknown';
  const peer = between(there, here);
  if (peer === undefined || peer.inode === '0') return 'other';
  return peer.uid === own || peer.uid === ROOT ? 'own' : 'other';
}

interface Connection {
  readonly local: string;
  readonly remote: string;
  readonly uid: number;
  /** 0: its process has closed it, and the account in the table means nothing. */
  readonly inode: string;
}

/** A system that has no such table, or does not show it, tells nothing. @throws when it cannot be read for another reason, such as too many open files */
async function readTable(path: string): Promise<Connection[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && HIDDEN.has(error.code)) return '';
    throw error;
  });
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/u))
    .map((fields) => ({
      local: fields[1] ?? '',
      remote: fields[2] ?? '',
      uid: Number(fields[7] ?? Number.NaN),
      inode: fields[9] ?? '0',
    }));
}

/** As the kernel writes an address: each 32 bits in the machine's byte order, in hex. */
function addressesOf(address: string | undefined, port: number | undefined): readonly string[] {
  if (address === undefined || port === undefined) return [];
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  if (address === '::1') return [V6_LOOPBACK + end];
  const v4 = V4.exec(address)?.slice(1);
  if (v4 === undefined) return [];
  const hex = v4
    .toReversed()
    .map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, '0'))
    .join('');
  return [hex + end, V4_IN_V6 + hex + end];
}
