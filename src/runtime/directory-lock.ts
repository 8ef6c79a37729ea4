import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { link, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive, ownIdentity } from './process-identity.ts';

/** Held until it is released or its process ends, however it ends. */
export interface DirectoryLock {
  release(): Promise<void>;
}

const LOCK_FILE = 'lote.lock';

const Holder = z.object({ pid: z.number().int().positive(), startTime: z.string() });

/**
 * Takes an existing directory for this process, or tells (null) that another process, or another part of this one, has it.
 * An embedded database has no lock of its own: two writers on one directory lose data silently.
 */
export async function acquireDirectoryLock(directory: string): Promise<DirectoryLock | null> {
  const path = await realpath(directory);
  return process.platform === 'linux' ? lockBySocket(path) : lockByFile(path);
}

/** An abstract socket has no file: the kernel frees its name at once when the process dies. */
async function lockBySocket(path: string): Promise<DirectoryLock | null> {
  const name = createHash('sha256').update(path).digest('hex');
  const server = createServer((socket) => socket.destroy());
  server.listen(`\0lote-${name}`);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) return null;
    throw error;
  }
  // The lock must not keep a process alive that has nothing left to do.
  server.unref();
  return {
    async release() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/** Exported for its test on Linux, where the socket is used. Pid and start time tell a living holder from a dead one's file. */
export async function lockByFile(path: string): Promise<DirectoryLock | null> {
  const file = join(path, LOCK_FILE);
  const mine = JSON.stringify(await ownIdentity());
  const beside = `${file}.${process.pid}.${process.hrtime.bigint()}`;
  await writeFile(beside, mine);
  try {
    if (!(await linkOnce(beside, file))) {
      if (await isHeld(file)) return null;
      await takeAway(file, `${beside}.stale`);
      if (!(await linkOnce(beside, file))) return null;
    }
  } finally {
    await rm(beside, { force: true });
  }
  return { release: () => rm(file, { force: true }) };
}

/** A link appears with all its content, and only for one of two that try. */
async function linkOnce(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Moves a dead holder's file aside; what was moved is looked at again, since another starter may have been quicker. */
async function takeAway(file: string, aside: string): Promise<void> {
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  if (await isHeld(aside)) await linkOnce(aside, file);
  await rm(aside, { force: true });
}

async function isHeld(file: string): Promise<boolean> {
  try {
    const holder = Holder.safeParse(JSON.parse(await readFile(file, 'utf8')));
    return holder.success && (await isAlive(holder.data));
  } catch {
    return false;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
