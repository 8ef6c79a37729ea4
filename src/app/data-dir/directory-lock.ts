import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';
import { requireWritable } from '../../platform/folders.ts';
import { repeat, type Repetition } from '../../platform/repeat.ts';

/** Held until it is released or its process ends, however it ends. */
export interface DirectoryLock {
  /** Made anew by each owner. What an owner writes down about itself carries it, so that readers tell it from a dead owner's. */
  readonly owner: string;
  /** Whether the locked file still lies in its directory. */
  isInPlace(): boolean;
  release(): Promise<void>;
}

/** Never removed: a process that holds the lock of a removed file would own nothing. */
const LOCK_FILE = 'lote.lock';
const OWNER_ONLY = 0o600;
const TRY_EVERY_MS = 20;
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
  const file = join(directory, LOCK_FILE);
  const fd = await openLockFile(file, PATIENCE_MS);
  if (fd === null) return null;
  try {
    await requireWritable({ title: 'data directory', path: directory, variable: 'LOTE_DATA_DIR' });
    const owner = randomUUID();
    // Host and pid are for people: neither tells whether a process lives.
    const holder = { owner, host: hostname(), pid: process.pid, since: new Date().toISOString() };
    ftruncateSync(fd);
    writeSync(fd, `${JSON.stringify(holder)}\n`);
    return { owner, isInPlace: () => isStill(file, fd), release: closeOnce(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** A second close could close another file that got the same number. */
function closeOnce(fd: number): () => Promise<void> {
  let open = true;
  return async () => {
    if (open) closeSync(fd);
    open = false;
  };
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
    return lockOpenFile(fd, file, { shared: true }) ? null : holderIn(readFileSync(fd, 'utf8'));
  } finally {
    closeSync(fd);
  }
}

function holderIn(text: string): string | null {
  try {
    return Holder.parse(JSON.parse(text)).owner;
  } catch {
    return null;
  }
}

const LOOK_EVERY_MS = 5_000;
/** Looks in a row at which the lock file is not in its place: a mount may be away for a moment. */
const LOOKS = 2;

/**
 * Looks now and then whether the lock file is in its place, and calls `onLost` with `folder-unusable` once it is not. The lock of a file that was removed
 * or moved away excludes no process: another one makes a new directory with a new ledger, while this one goes on with files that no process will find again.
 */
export function watchDirectory(
  path: string,
  lock: Pick<DirectoryLock, 'isInPlace'>,
  onLost: (error: LoteError) => void,
  everyMs = LOOK_EVERY_MS,
): Repetition {
  let missing = 0;
  const look = async (): Promise<void> => {
    missing = lock.isInPlace() ? 0 : missing + 1;
    if (missing === LOOKS) onLost(directoryLost(path));
  };
  return repeat(everyMs, look, { firstAtOnce: false });
}

function directoryLost(path: string): LoteError {
  return new LoteError(
    'folder-unusable',
    `Keeping the data directory ${path}: it must stay where it is while Lote runs, but it was removed or moved away, or another one took its place. Its ledger is not there any more: put the directory back, ` +
      'or restore a copy (docs/deployment.md#restore-the-ledger), before you start Lote again.',
  );
}

/**
 * Opens a file, which is made when it is missing, and takes the kernel's exclusive lock on it. The lock ends when the
 * file descriptor and each copy of it that a child process inherited are closed. It is a bare descriptor, because a
 * FileHandle that is garbage is closed. Null when another open file holds the lock for as long as `patienceMs`.
 * @throws LoteError `configuration-invalid` when the file system cannot say who holds the lock
 */
export async function openLockFile(file: string, patienceMs: number): Promise<number | null> {
  for (let waited = 0; ; waited += TRY_EVERY_MS) {
    const fd = openLocked(file);
    if (fd !== null || waited >= patienceMs) return fd;
    await sleep(TRY_EVERY_MS);
  }
}

function openLocked(file: string): number | null {
  const fd = openForLock(file);
  let isOurs = false;
  try {
    if (!lockOpenFile(fd, file) || !isStill(file, fd)) return null;
    requireKeptLock(file);
    isOurs = true;
    return fd;
  } finally {
    if (!isOurs) closeSync(fd);
  }
}

function openForLock(file: string): number {
  try {
    return openSync(file, 'a+', OWNER_ONLY);
  } catch (cause) {
    throw lockUndecided(file, cause);
  }
}

/** Another process may remove the file between its opening and its locking. */
function isStill(file: string, fd: number): boolean {
  const [there, ours] = [statSync(file, { throwIfNoEntry: false }), fstatSync(fd)];
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
}

/** A file system without locks may grant every lock: a second opening of the file must be refused. */
function requireKeptLock(file: string): void {
  const second = openForLock(file);
  try {
    if (lockOpenFile(second, file)) throw lockUndecided(file, new Error('two locks on one file were granted'));
  } finally {
    closeSync(second);
  }
}

/** Locks a file that is open; false when another open file holds a lock that excludes it. */
function lockOpenFile(fd: number, file: string, options: { readonly shared?: boolean } = {}): boolean {
  try {
    return tryLock(fd, options);
  } catch (error) {
    throw lockUndecided(file, error);
  }
}

/** The error for a lock of which it cannot be said whether another process holds it: `configuration-invalid`. */
function lockUndecided(file: string, cause: unknown): LoteError {
  const found = cause instanceof Error ? cause.message : String(cause);
  return new LoteError(
    'configuration-invalid',
    `Locking the data directory: the file ${file} must be writable by this account, and its file system must keep locks; found: ` +
      `${found}. Whether another process owns the directory cannot be told, so it stays closed. Start Lote as the account that owns ` +
      'the directory, or set LOTE_DATA_DIR to a directory on a local disk.',
    { cause },
  );
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

/** Exported for its test: a network file system cannot be mounted everywhere. */
export function networkFileSystemOfType(type: number): string | null {
  // The kernel's word is signed on some machines.
  return NETWORK_FILE_SYSTEMS[type >>> 0] ?? null;
}

async function refuseNetworkFileSystem(directory: string): Promise<void> {
  const kind = process.platform === 'linux' ? networkFileSystemOfType((await statfs(directory)).type) : null;
  if (kind === null) return;
  throw new LoteError(
    'configuration-invalid',
    `Locking the data directory: it must lie on a file system of this machine, found ${directory} on ${kind}. A process of another ` +
      'machine could open it at the same time, unseen. Set LOTE_DATA_DIR to a local directory, or keep the ledger in PostgreSQL ' +
      '(DATABASE_URL) and use a Temporal server (TEMPORAL_ADDRESS).',
  );
}
