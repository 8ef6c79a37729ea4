import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';

/** Gives the directory back. */
export type ReleaseDirectory = () => void;

/** Never removed: a process that holds the lock of a removed file would hold nothing. */
const LOCK_FILE = 'sandbox.lock';
const OWNER_ONLY = 0o600;

/**
 * Takes a directory for this process: two sandboxes on one journal would each answer from books that lack the other's invoices. The lock is
 * the kernel's, on a file inside the directory, so it is free the moment its process has ended, however it ended.
 *
 * @throws when another process holds it, or the file system keeps no locks.
 */
export function lockDirectory(directory: string): ReleaseDirectory {
  const file = join(directory, LOCK_FILE);
  // A bare descriptor: a FileHandle that is garbage is closed, and its lock with it.
  const fd = openSync(file, 'a+', OWNER_ONLY);
  let locked = false;
  try {
    locked = tryLock(fd);
  } catch (cause) {
    throw new Error(
      `Opening the sandbox's store at ${directory}: its file system must keep locks, and this one does not.`,
      { cause },
    );
  } finally {
    if (!locked) closeSync(fd);
  }
  if (!locked) {
    throw new Error(
      `Opening the sandbox's store at ${directory}: one process may use it at a time, and another one does. Stop that one, or use another directory.`,
    );
  }
  return () => {
    // A second close could close another file that got the same number.
    if (locked) closeSync(fd);
    locked = false;
  };
}
