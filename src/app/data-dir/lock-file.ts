import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { LoteError } from '../../domain/errors.ts';

const OWNER_ONLY = 0o600;
const TRY_EVERY_MS = 20;

/**
 * Opens a file, which is made when it is missing, and takes the kernel's exclusive lock on it. The lock ends when the
 * file descriptor and each copy of it that a child process inherited are closed. It is a bare descriptor, because a
 * FileHandle that is garbage is closed. Null when another open file holds the lock for as long as `patienceMs`.
 * @throws LoteError `configuration-invalid` when the file system cannot say who holds the lock
 */
export async function openLockFile(file: string, patienceMs: number): Promise<number | null> {
  for (let waited = 0; ; waited += TRY_EVERY_MS) {
    const fd = openLocked(file);
    if (fd !== null) {
      requireKeptLock(file, fd);
      return fd;
    }
    if (waited >= patienceMs) return null;
    await sleep(TRY_EVERY_MS);
  }
}

/**
 * Locks a file that is open; false when another open file holds a lock that excludes it.
 * @throws LoteError `configuration-invalid`
 */
export function lockOpenFile(fd: number, file: string, options: { readonly shared?: boolean } = {}): boolean {
  try {
    return tryLock(fd, options);
  } catch (error) {
    throw lockUndecided(file, error);
  }
}

/** The error for a lock of which it cannot be said whether another process holds it: `configuration-invalid`. */
export function lockUndecided(file: string, cause: unknown): LoteError {
  const found = cause instanceof Error ? cause.message : String(cause);
  return new LoteError(
    'configuration-invalid',
    `Locking the data directory: the file ${file} must be writable by this account, and its file system must keep locks; found: ` +
      `${found}. Whether another process owns the directory cannot be told, so it stays closed. Start Lote as the account that owns ` +
      'the directory, or set LOTE_DATA_DIR to a directory on a local disk.',
    { cause },
  );
}

function openLocked(file: string): number | null {
  const fd = openForLock(file);
  let locked = false;
  try {
    locked = lockOpenFile(fd, file) && isStill(file, fd);
    return locked ? fd : null;
  } finally {
    if (!locked) closeSync(fd);
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
function requireKeptLock(file: string, first: number): void {
  try {
    const second = openForLock(file);
    try {
      if (lockOpenFile(second, file)) throw lockUndecided(file, new Error('two locks on one file were granted'));
    } finally {
      closeSync(second);
    }
  } catch (error) {
    closeSync(first);
    throw error;
  }
}
