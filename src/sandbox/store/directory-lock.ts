import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Gives the directory back. */
export type ReleaseDirectory = () => Promise<void>;

/**
 * Takes a directory for this process: PGlite has no lock of its own, and two processes on one directory lose data silently.
 *
 * @throws when another process holds it.
 */
export async function lockDirectory(directory: string): Promise<ReleaseDirectory> {
  const path = await realpath(directory);
  return process.platform === 'linux' ? lockBySocket(path) : lockByFile(path);
}

// An abstract socket is gone the moment its process is, however that one ended.
async function lockBySocket(path: string): Promise<ReleaseDirectory> {
  const server = createServer((socket) => socket.destroy());
  server.listen({ path: `\0lote-sandbox-${createHash('sha256').update(path).digest('hex').slice(0, 32)}` });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw heldByAnother(path, cause);
  }
  server.unref();
  return async () => {
    const closed = once(server, 'close');
    server.close();
    await closed;
  };
}

async function lockByFile(path: string): Promise<ReleaseDirectory> {
  const file = join(path, 'sandbox.lock');
  try {
    await writeLock(file);
  } catch (cause) {
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (isAlive(holder)) throw heldByAnother(path, cause);
    await rm(file, { force: true });
    await writeLock(file);
  }
  return () => rm(file, { force: true });
}

async function writeLock(file: string): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(String(process.pid));
  } finally {
    await handle.close();
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
}

function heldByAnother(path: string, cause: unknown): Error {
  return new Error(
    `Opening the sandbox's store at ${path}: one process may use it at a time, and another one does. Stop that one, or use another directory.`,
    { cause },
  );
}
