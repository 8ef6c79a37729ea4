import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { LoteError } from '../../domain/errors.ts';
import { requireWritable } from '../../platform/folders.ts';
import { repeat, type Repetition } from '../../platform/repeat.ts';

/** A lock that lasts until it is released or its process ends in any way. */
export interface DirectoryLock {
  /** A new id per owner. An owner writes it into its files, so that readers can recognise the files of a dead owner. */
  readonly owner: string;
  /** Returns true if the locked file is still in its directory. */
  isInPlace(): boolean;
  release(): Promise<void>;
}

/** Lote never removes this file, because the lock of a removed file excludes no other process. */
const LOCK_FILE = 'lote.lock';
const OWNER_ONLY = 0o600;
const TRY_EVERY_MS = 20;
/** `currentOwner` holds a shared lock for some microseconds; a starter that meets that lock tries again. */
const PATIENCE_MS = 100;

/**
 * Locks an existing directory for this process. Returns null when another process, or another part of this one, has it. The kernel's lock on a file
 * in the directory holds across paths, mounts, users, network and process namespaces of this machine. An embedded database has no lock of its own:
 * two writers on one directory lose data silently.
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
    // Host and pid are for people only: neither shows whether a process is alive.
    const holder = { owner, host: hostname(), pid: process.pid, since: new Date().toISOString() };
    ftruncateSync(fd);
    writeSync(fd, `${JSON.stringify(holder)}\n`);
    return { owner, isInPlace: () => isStill(file, fd), release: closeOnce(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** A second close could close another file that has got the same descriptor number. */
function closeOnce(fd: number): () => Promise<void> {
  let open = true;
  return async () => {
    if (open) closeSync(fd);
    open = false;
  };
}

/** Returns the owner of a directory. Returns null without an owner, or if a new owner has not yet written its id. */
export function currentOwner(directory: string): string | null {
  const file = join(directory, LOCK_FILE);
  if (!existsSync(file)) return null;
  const fd = decided(file, () => openSync(file, 'r'));
  try {
    if (decided(file, () => tryLock(fd, { shared: true }))) return null;
    return /"owner":"([^"]+)"/u.exec(readFileSync(fd, 'utf8'))?.[1] ?? null;
  } finally {
    closeSync(fd);
  }
}

const LOOK_EVERY_MS = 5_000;
/** Failed checks in a row before the directory counts as lost, because a mount may be away for a moment. */
const LOOKS = 2;

/**
 * Checks regularly that the lock file is in its place, and calls `onLost` with `folder-unusable` once it is not. The lock of a moved or removed
 * file excludes no process: another process makes a new directory with a new ledger, while this one writes files that no process will find again.
 */
export function watchDirectory(
  path: string,
  lock: Pick<DirectoryLock, 'isInPlace'>,
  onLost: (error: LoteError) => void,
  everyMs = LOOK_EVERY_MS,
): Repetition {
  let missing = 0;
  return repeat(everyMs, async () => {
    missing = lock.isInPlace() ? 0 : missing + 1;
    if (missing === LOOKS) onLost(directoryLost(path));
  });
}

function directoryLost(path: string): LoteError {
  return new LoteError(
    'folder-unusable',
    `Keeping the data directory ${path}: it must stay where it is while Lote runs, but it was removed or moved away, or another one took its place. Its ledger is not there any more: put the directory back, ` +
      'or restore a copy (docs/deployment.md#restore-the-ledger), before you start Lote again.',
  );
}

/**
 * Opens a file, creating it if missing, and takes the kernel's exclusive lock on it. The lock ends when the descriptor
 * and each copy inherited by a child process are closed. Returns a bare descriptor, because Node closes a FileHandle
 * that is garbage-collected. Returns null when another open file holds the lock for `patienceMs`.
 * @throws LoteError `configuration-invalid` when the file system cannot say who holds the lock
 */
export async function openLockFile(file: string, patienceMs: number): Promise<number | null> {
  for (let waited = 0; ; waited += TRY_EVERY_MS) {
    const fd = openLocked(file);
    if (fd !== null) requireKeptLock(file);
    if (fd !== null || waited >= patienceMs) return fd;
    await sleep(TRY_EVERY_MS);
  }
}

function openLocked(file: string): number | null {
  const fd = decided(file, () => openSync(file, 'a+', OWNER_ONLY));
  if (decided(file, () => tryLock(fd)) && isStill(file, fd)) return fd;
  closeSync(fd);
  return null;
}

/** Returns false if the open file has been removed, or another file has taken its place. */
function isStill(file: string, fd: number): boolean {
  const [there, ours] = [statSync(file, { throwIfNoEntry: false }), fstatSync(fd)];
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
}

/** A file system without locks may grant every lock, so this function requires that a second lock is refused. */
function requireKeptLock(file: string): void {
  decided(file, () => {
    if (openLocked(file) !== null) throw new Error('two locks on one file were granted');
  });
}

/** @throws LoteError `configuration-invalid` when `act` fails: the holder of the lock cannot be told */
function decided<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new LoteError(
      'configuration-invalid',
      `Locking the data directory: the file ${file} must be writable by this account, and its file system must keep locks; found: ` +
        `${found}. Whether another process owns the directory cannot be told, so it stays closed. Start Lote as the account that owns ` +
        'the directory, or set LOTE_DATA_DIR to a directory on a local disk.',
      { cause },
    );
  }
}

/** Linux `statfs(2)` types of file systems whose locks may exclude only processes of this machine. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'SMB (CIFS)',
  0xfe534d42: 'SMB 2',
  0x564c: 'NCP',
  0x5346414f: 'AFS',
  0x73757245: 'Coda',
};

/** Exported for its test, because a test cannot mount a network file system everywhere. */
export function networkFileSystemOfType(type: number): string | null {
  // The kernel's type number is signed on some machines.
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
