import { randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';
import { requireWritable } from '../../platform/folders.ts';
import { lockOpenFile, lockUndecided, openLockFile } from './lock-file.ts';

/** Held until it is released or its process ends, however it ends. */
export interface DirectoryLock {
  /** Made anew by each owner. What an owner writes down about itself carries it, so that readers tell it from a dead owner's. */
  readonly owner: string;
  release(): Promise<void>;
}

/** Never removed: a process that holds the lock of a removed file would own nothing. */
export const LOCK_FILE = 'lote.lock';
/** `currentOwner` holds a shared lock for some microseconds; a starter that meets it looks again. */
const PATIENCE_MS = 100;

const Holder = z.object({ owner: z.string().min(1) });

/**
 * Takes an existing directory for this process; null when another process, or another part of this one, has it. The lock is the
 * kernel's, on a file inside the directory: other paths, mounts, users, network and process namespaces of this machine all meet it.
 * An embedded database has no lock of its own: two writers on one directory lose data silently.
 * @throws LoteError `configuration-invalid` when the file system cannot tell whether the directory is free; `folder-unusable` when its disk is full
 */
export async function acquireDirectoryLock(directory: string): Promise<DirectoryLock | null> {
  await refuseNetworkFileSystem(directory);
  const fd = await openLockFile(join(directory, LOCK_FILE), PATIENCE_MS);
  if (fd === null) return null;
  try {
    await requireWritable({ title: 'data directory', path: directory, variable: 'LOTE_DATA_DIR' });
    const owner = randomUUID();
    writeHolder(fd, owner);
    return { owner, release: closeOnce(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Who owns a directory at this moment; null when no process does, or when an owner has just come and has not written its name. */
export function currentOwner(directory: string): string | null {
  const file = join(directory, LOCK_FILE);
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw lockUndecided(file, error);
  }
  try {
    if (lockOpenFile(fd, file, { shared: true })) return null;
    return holderIn(readFileSync(fd, 'utf8'));
  } finally {
    closeSync(fd);
  }
}

/** The owner that a lock file names; null: none, or not the whole name yet. */
export function holderIn(text: string): string | null {
  const holder = Holder.safeParse(parse(text));
  return holder.success ? holder.data.owner : null;
}

/** Host and pid are for people: neither tells whether a process lives. */
function writeHolder(fd: number, owner: string): void {
  const holder = { owner, host: hostname(), pid: process.pid, since: new Date().toISOString() };
  ftruncateSync(fd);
  writeSync(fd, `${JSON.stringify(holder)}\n`);
}

/** A second close could close another file that got the same number. */
function closeOnce(fd: number): () => Promise<void> {
  let open = true;
  return () => {
    if (open) closeSync(fd);
    open = false;
    return Promise.resolve();
  };
}

async function refuseNetworkFileSystem(directory: string): Promise<void> {
  const kind = await networkFileSystemOf(directory);
  if (kind === null) return;
  throw new LoteError(
    'configuration-invalid',
    `Locking the data directory: it must lie on a file system of this machine, found ${directory} on ${kind}. A process of another ` +
      'machine could open it at the same time, unseen. Set LOTE_DATA_DIR to a local directory, or keep the ledger in PostgreSQL ' +
      '(DATABASE_URL) and use a Temporal server (TEMPORAL_ADDRESS).',
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Types of `statfs(2)` on Linux whose locks may end at this machine: whether the other machines see them is not told. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'SMB (CIFS)',
  0xfe534d42: 'SMB 2',
  0x564c: 'NCP',
  0x5346414f: 'AFS',
  0x73757245: 'Coda',
};

/** The network file system that a directory lies on; null when it lies on none that is known. */
async function networkFileSystemOf(directory: string): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  return networkFileSystemOfType((await statfs(directory)).type);
}

/** Exported for its test: a network file system cannot be mounted everywhere. */
export function networkFileSystemOfType(type: number): string | null {
  // The kernel's word is signed on some machines.
  return NETWORK_FILE_SYSTEMS[type >>> 0] ?? null;
}
