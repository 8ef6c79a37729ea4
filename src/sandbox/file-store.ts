import { closeSync, openSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { bodyMissing, type Change, type SandboxStore } from './store.ts';

const JOURNAL_FILE = 'books.jsonl';
/** Never remove this file: a lock on a removed file excludes no other process. */
const LOCK_FILE = 'sandbox.lock';
const OWNER_ONLY = 0o600;
const NEWLINE = 0x0a;
const CHUNK_BYTES = 1024 * 1024;

/** The position of a group of changes in the journal, in bytes. */
interface Position {
  readonly offset: number;
  readonly length: number;
}

interface Waiting {
  readonly line: Buffer;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Stores the books in their own directory, where they survive the process; memory holds about 100 bytes per invoice.
 * The journal has one JSON line per group of changes: a group is stored completely, with its newline, or not at all.
 * The store does not call fsync, because a simulated service need not survive a power cut.
 */
export function fileStore({ directory }: { readonly directory: string }): SandboxStore {
  return new FileStore(directory);
}

class FileStore implements SandboxStore {
  readonly #directory: string;
  readonly #path: string;
  #journal: FileHandle | null = null;
  #length = 0;
  #release: () => void = () => undefined;
  /** The journal position of each invoice's body. */
  readonly #bodies = new Map<string, Position>();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, JOURNAL_FILE);
  }

  /** Removes a last group that its process did not finish. @throws Error if a group in the middle is not JSON. */
  async *open(): AsyncGenerator<Change> {
    await mkdir(this.#directory, { recursive: true });
    this.#release = lockDirectory(this.#directory);
    try {
      this.#journal = await open(this.#path, 'a+', OWNER_ONLY);
      this.#length = 0;
      let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
      for (let at = 0; ;) {
        const { bytesRead, buffer } = await this.#journal.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at);
        if (bytesRead === 0) break;
        at += bytesRead;
        rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
          const changes = this.#parse(rest.subarray(0, end), this.#length);
          this.#remember(changes, { offset: this.#length, length: end });
          yield* changes;
          this.#length += end + 1;
          rest = rest.subarray(end + 1);
        }
      }
      if (rest.length > 0) await this.#journal.truncate(this.#length);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async write(changes: readonly Change[]): Promise<void> {
    const journal = this.#opened();
    if (changes.length === 0) return;
    const line = Buffer.from(`${JSON.stringify(changes)}\n`);
    const position = await new Promise<Position>((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#writing ??= this.#writeAll(journal);
    });
    this.#remember(changes, position);
  }

  async invoiceBody(id: string): Promise<string> {
    const journal = this.#opened();
    const position = this.#bodies.get(id);
    if (position === undefined) return bodyMissing(id);
    const { offset, length } = position;
    const { bytesRead, buffer } = await journal.read(Buffer.alloc(length), 0, length, offset);
    const changes = this.#parse(buffer.subarray(0, bytesRead), offset);
    for (const change of changes) if (change.kind === 'invoice' && change.invoice.id === id) return change.body;
    return bodyMissing(id);
  }

  async close(): Promise<void> {
    const journal = this.#journal;
    this.#journal = null;
    try {
      while (this.#writing !== null) await this.#writing;
      await journal?.close();
    } finally {
      this.#release();
    }
  }

  #opened(): FileHandle {
    if (this.#journal === null) throw new Error("Using the sandbox's store: it must be open, and it is not.");
    return this.#journal;
  }

  #remember(changes: readonly Change[], position: Position): void {
    for (const change of changes) if (change.kind === 'invoice') this.#bodies.set(change.invoice.id, position);
  }

  /** Groups that arrive during a write are part of the next write. */
  async #writeAll(journal: FileHandle): Promise<void> {
    // Waits for one turn of the event loop, so that requests that arrive together share a write.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const groups = this.#waiting;
      this.#waiting = [];
      try {
        await journal.appendFile(Buffer.concat(groups.map(({ line }) => line)));
        for (const { line, resolve } of groups) {
          resolve({ offset: this.#length, length: line.length - 1 });
          this.#length += line.length;
        }
      } catch (error) {
        // A full disk may have stored a part of the groups, and the next group must not be appended to it.
        await journal.truncate(this.#length).catch(() => undefined);
        for (const { reject } of groups) reject(error);
      }
    }
    this.#writing = null;
  }

  #parse(line: Buffer, offset: number): readonly Change[] {
    try {
      return JSON.parse(line.toString('utf8')) as readonly Change[];
    } catch (cause) {
      throw new Error(
        `Reading the sandbox's books in ${this.#path}: every line must be JSON, and the one at byte ${offset} is not. Put the file back, or remove its directory to start with empty books.`,
        { cause },
      );
    }
  }
}

/**
 * Locks a directory for this process: each of two sandboxes on one journal would lack the other's invoices. The kernel
 * holds the lock on a file in the directory and releases it when the process ends, however it ends.
 * @returns a function that releases the directory
 * @throws if another process holds the lock, or the file system does not support locks.
 */
function lockDirectory(directory: string): () => void {
  // Uses a bare descriptor, because a garbage-collected FileHandle is closed and loses its lock.
  const fd = openSync(join(directory, LOCK_FILE), 'a+', OWNER_ONLY);
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
    // A second close could close another file that has the same number by then.
    if (locked) closeSync(fd);
    locked = false;
  };
}
