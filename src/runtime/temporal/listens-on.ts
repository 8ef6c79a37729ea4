import { readdir, readFile, readlink } from 'node:fs/promises';
import { statField } from '../process/stat-field.ts';

/** State of a socket in `/proc/net/tcp` that accepts connections. */
const LISTENING = '0A';
const SESSION_FIELD = 6;

/**
 * Whether the process that leads session `leader`, or another one of its session, listens on TCP port `port`. A port that answers proves nothing: another
 * program may have taken it before ours listened there. Null where the system does not tell (it does on Linux).
 */
export async function listensOn(leader: number, port: number): Promise<boolean | null> {
  if (process.platform !== 'linux') return null;
  const sockets = await listeningSockets(leader, port);
  if (sockets.size === 0) return false;
  for (const pid of await pidsOfSession(leader))
    // oxlint-disable-next-line no-await-in-loop -- the leader comes first, and is nearly always the one
    if (await holdsAny(pid, sockets)) return true;
  return false;
}

/** Names of the sockets, as the links in `/proc/<pid>/fd` spell them. */
async function listeningSockets(pid: number, port: number): Promise<ReadonlySet<string>> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => readOrNothing(`/proc/${pid}/net/${table}`)));
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set<string>();
  for (const line of tables.join('\n').split('\n')) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (local?.endsWith(suffix) && state === LISTENING) sockets.add(`socket:[${inode}]`);
  }
  return sockets;
}

/** A `temporal` on the path may be a script that starts the server as its child. */
async function pidsOfSession(leader: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const others = await Promise.all(pids.map(async (pid) => ((await sessionOf(pid)) === leader ? [pid] : [])));
  return [leader, ...others.flat().filter((pid) => pid !== leader)];
}

async function sessionOf(pid: number): Promise<number> {
  return Number(await statField(pid, SESSION_FIELD).catch(() => Number.NaN));
}

async function holdsAny(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  const targets = await Promise.all(descriptors.map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
  return targets.some((target) => sockets.has(target));
}

/** A process may end while it is looked at. */
function readOrNothing(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
