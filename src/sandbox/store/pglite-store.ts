import { closeSync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { tryLock } from 'fs-native-extensions';
import type { PgliteReply, PgliteRequest } from './pglite-messages.ts';
import type { SandboxStore } from './sandbox-store.ts';
import type { Row, SqlSession } from './sql-session.ts';
import { sqlStore } from './sql-store.ts';

/** Gives the directory back. */
type ReleaseDirectory = () => void;

/** Never removed: a process that holds the lock of a removed file would hold nothing. */
const LOCK_FILE = 'sandbox.lock';
const OWNER_ONLY = 0o600;

/**
 * Takes a directory for this process: PGlite has no lock of its own, and two processes on one directory lose data silently. The lock is
 * the kernel's, on a file inside the directory, so it is free the moment its process has ended, however it ended.
 *
 * @throws when another process holds it, or the file system keeps no locks.
 */
function lockDirectory(directory: string): ReleaseDirectory {
  const file = join(directory, LOCK_FILE);
  // A bare descriptor: a FileHandle that is garbage is closed, and its lock with it.
  const fd = openSync(file, 'a+', OWNER_ONLY);
  let locked = false;
  try {
    locked = tryLock(fd);
  } catch (cause) {
    throw new Error(
      `Opening the sandbox's store at ${directory}: its file system must keep locks, and this one does not.`,
      {
        cause,
      },
    );
  } finally {
    if (!locked) closeSync(fd);
  }
  if (!locked) throw heldByAnother(directory);
  return () => {
    // A second close could close another file that got the same number.
    if (locked) closeSync(fd);
    locked = false;
  };
}

function heldByAnother(path: string): Error {
  return new Error(
    `Opening the sandbox's store at ${path}: one process may use it at a time, and another one does. Stop that one, or use another directory.`,
  );
}

/** Books in a PGlite of their own, in a directory that nothing else uses; they survive the process. */
export function pgliteStore({ directory }: { readonly directory: string }): SandboxStore {
  return sqlStore({ connect: () => openThread(directory), schema: 'lote_sandbox' });
}

async function openThread(directory: string): Promise<SqlSession> {
  await mkdir(directory, { recursive: true });
  const release = lockDirectory(directory);
  return threadSession(startThread(directory), release);
}

function startThread(directory: string): Worker {
  const compiled = !import.meta.url.endsWith('.ts');
  if (compiled) return new Worker(new URL('./pglite-thread.js', import.meta.url), { workerData: directory });
  // A thread does not inherit the loader that reads TypeScript, and Node 20 takes none by option here.
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const thread = JSON.stringify(new URL('./pglite-thread.ts', import.meta.url).href);
  const source = `import(${loader}).then(({ register }) => { register(); return import(${thread}); })`;
  return new Worker(source, { eval: true, workerData: directory });
}

interface Waiting {
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: Error) => void;
}

type Asked = PgliteRequest extends infer R ? (R extends PgliteRequest ? Omit<R, 'id'> : never) : never;

function threadSession(thread: Worker, release: ReleaseDirectory): SqlSession {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let ended: Error | null = null;

  function end(error: Error): void {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  }

  thread.on('error', (cause) => end(new Error("The sandbox's database thread failed.", { cause })));
  thread.on('exit', () => end(new Error("The sandbox's database thread has ended.")));
  thread.on('message', (reply: PgliteReply) => {
    const asker = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.ok) asker?.resolve(reply.rows);
    else asker?.reject(new Error(`The sandbox's database refused a statement: ${reply.message}`));
  });

  function ask(request: Asked): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      if (ended !== null) {
        reject(ended);
        return;
      }
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      thread.postMessage({ ...request, id: lastId });
    });
  }

  return {
    query: (statement) => ask({ kind: 'query', statement }),
    async transaction(statements) {
      await ask({ kind: 'transaction', statements });
    },
    async close() {
      try {
        if (ended === null) await ask({ kind: 'close' });
      } finally {
        await thread.terminate();
        release();
      }
    },
  };
}
