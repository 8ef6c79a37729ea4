import { closeSync, openSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import type { Change, InvoiceRecord, SandboxStore } from './store.ts';

const JOURNAL_FILE = 'books.jsonl';
/** Never remove this file: a lock on a removed file excludes no other process. */
const LOCK_FILE = 'sandbox.lock';
const OWNER_ONLY = 0o600;
const NEWLINE = 0x0a;

/**
 * Stores the books in their own directory. The journal has one JSON line per group of changes: a group is stored completely,
 * with its newline, or not at all. The store does not call fsync: a simulated service need not survive a power cut.
 */
export function fileStore({ directory }: { readonly directory: string }): SandboxStore {
  const path = join(directory, JOURNAL_FILE);
  let journal: FileHandle | null = null;
  let release: () => void = () => undefined;
  let length = 0;
  /** Settles after the last write; writes follow each other. */
  let written: Promise<unknown> = Promise.resolve();

  async function close(): Promise<void> {
    try {
      await written;
      await journal?.close();
    } finally {
      journal = null;
      release();
    }
  }

  return {
    /** Removes a last group that its process did not finish. @throws Error if a group in the middle is not JSON, or of an earlier build. */
    async *open() {
      await mkdir(directory, { recursive: true });
      release = lockDirectory(directory);
      try {
        journal = await open(path, 'a+', OWNER_ONLY);
        const whole = await journal.readFile();
        length = whole.lastIndexOf(NEWLINE) + 1;
        if (length < whole.length) await journal.truncate(length);
        for (let at = 0; at < length;) {
          const end = whole.indexOf(NEWLINE, at);
          yield* parsed(whole.subarray(at, end), path, at);
          at = end + 1;
        }
      } catch (error) {
        await close();
        throw error;
      }
    },
    write(changes) {
      const line = Buffer.from(`${JSON.stringify(changes)}\n`);
      const write = written.then(async () => {
        if (journal === null) throw new Error("Using the sandbox's store: it must be open, and it is not.");
        try {
          await journal.appendFile(line);
          length += line.length;
        } catch (error) {
          // A full disk may have stored a part of the group, and the next group must not be appended to it.
          await journal.truncate(length).catch(() => undefined);
          throw error;
        }
      });
      written = write.catch(() => undefined);
      return write;
    },
    close,
  };
}

/** Returns the changes of one line. An earlier build kept the text of an invoice's request beside its record. */
function parsed(line: Buffer, path: string, at: number): readonly Change[] {
  let changes: readonly Change[];
  try {
    changes = JSON.parse(line.toString('utf8')) as readonly Change[];
  } catch (cause) {
    const message = `Reading the sandbox's books in ${path}: every line must be JSON, and the one at byte ${at} is not. Put the file back, or remove its directory to start with empty books.`;
    throw new Error(message, { cause });
  }
  const isWhole = (change: Change): boolean =>
    change.kind !== 'invoice' || typeof (change.invoice as Partial<InvoiceRecord>).body === 'string';
  if (changes.every(isWhole)) return changes;
  throw new Error(
    `Reading the sandbox's books in ${path}: every invoice must have its request in its record, but an earlier build of Lote wrote these books. Remove the sandbox's directory to start with empty books.`,
  );
}

/**
 * Locks a directory for this process: each of two sandboxes on one journal would lack the other's invoices. The kernel
 * releases the lock when the process ends, however it ends. @returns a function that releases it. @throws if it cannot lock
 */
function lockDirectory(directory: string): () => void {
  // Uses a bare descriptor, because a garbage-collected FileHandle is closed and loses its lock.
  const fd = openSync(join(directory, LOCK_FILE), 'a+', OWNER_ONLY);
  let locked = false;
  try {
    locked = tryLock(fd);
  } catch (cause) {
    const message = `Opening the sandbox's store at ${directory}: its file system must keep locks, and this one does not.`;
    throw new Error(message, { cause });
  } finally {
    if (!locked) closeSync(fd);
  }
  if (!locked) {
    throw new Error(
      `Opening the sandbox's store at ${directory}: one process may use it at a time, and another one does. Stop that one, or use another directory.`,
    );
  }
  return () => {
    // A second close could close another file that has the same number by then.
    if (locked) closeSync(fd);
    locked = false;
  };
}
