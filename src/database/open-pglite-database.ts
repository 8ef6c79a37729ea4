import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { LoteError } from '../domain/errors.ts';
import { type Database, type Queries, rowsOf, runTransaction, type SqlValue } from './database.ts';
import { StatementFailure } from './statement-failure.ts';
import type { ThreadRequest, ThreadResult } from './pglite-thread.ts';

/**
 * Opens PGlite in a worker thread, which runs statements in their order of arrival. The caller must hold the lock on the directory: two processes would both
 * write and silently lose data.
 * @throws LoteError `ledger-unavailable` when the database does not start; `ledger-conflict` for files of another version of PostgreSQL.
 */
export async function openPgliteDatabase(directory: string): Promise<Database> {
  await requireEngineVersion(directory);
  const sessions = createSessions(directory);
  await sessions.session();
  let lastTransaction: Promise<unknown> = Promise.resolve();

  return {
    async query(text, params) {
      await lastTransaction;
      return (await sessions.session()).query(text, params);
    },
    /** Runs in one session. After a restart, a later statement of the transaction would run alone and be committed. */
    async transaction(work) {
      const before = lastTransaction;
      const run = async () => {
        await before;
        return runTransaction(await sessions.session(), work);
      };
      const running = run();
      lastTransaction = running.catch(() => undefined);
      return running;
    },
    close: () => sessions.close(),
  };
}

/** PGlite's major version of PostgreSQL; a test compares it with the version that PGlite writes. */
export const ENGINE_VERSION = '18';

/** Refuses files of another major version of PostgreSQL, which another release of Lote wrote. @throws LoteError `ledger-conflict` */
async function requireEngineVersion(directory: string): Promise<void> {
  const written = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch(() => null);
  const version = written?.trim() ?? ENGINE_VERSION;
  if (version === ENGINE_VERSION) return;
  throw new LoteError(
    'ledger-conflict',
    `Opening the embedded ledger at ${directory}: this Lote reads files of PostgreSQL ${ENGINE_VERSION}, found those of PostgreSQL ${version}. Nothing was changed. Use the version of Lote that wrote them (CHANGELOG.md names the change)`,
  );
}

/** The shortest pause in milliseconds before another start after a failed one (a full disk): each start costs half a second of computing. */
const START_PAUSE_MS = 1_000;

/**
 * Restarts PGlite after a breakdown. On a full disk PGlite panics, and its thread then computes for ever. Acknowledged
 * data is on the disk, and the next start recovers it.
 */
function createSessions(directory: string) {
  let current: Session | null = null;
  let starting: Promise<Session> | null = null;
  let failed: { readonly error: unknown; readonly at: number } | null = null;
  let ended: Promise<unknown> = Promise.resolve();
  let closed = false;

  return {
    /** Returns the current session, or a new one. @throws LoteError `ledger-unavailable` while the database does not start. */
    async session(): Promise<Session> {
      if (closed) throw new LoteError('ledger-unavailable', 'The embedded ledger is closed');
      if (current !== null) return current;
      if (failed !== null && performance.now() - failed.at < START_PAUSE_MS) throw failed.error;
      return (starting ??= start());
    },

    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      await starting?.catch(() => undefined);
      await current?.close();
      // The caller then releases the directory, so a thread that broke down must have left it too.
      await ended;
    },
  };

  async function start(): Promise<Session> {
    try {
      // Two threads in one directory would both write.
      await ended;
      failed = null;
      current = await startSession(directory, (error, exit) => {
        current = null;
        failed = { error, at: performance.now() };
        ended = exit;
      });
      return current;
    } catch (error) {
      failed = { error, at: performance.now() };
      throw error;
    } finally {
      starting = null;
    }
  }
}

/** One start of the database; all its unfinished work ends with it. @throws LoteError `ledger-unavailable` when the thread is gone. */
interface Session extends Queries {
  close(): Promise<void>;
}

/**
 * Work that a database function does before V8 optimises it (V8's default: 1,800,000). Most functions never need
 * optimisation: a run of 14 invoices takes 5 % less CPU, a batch of 5,000 the same (docs/benchmarks.md#footprint).
 */
const OPTIMISE_AFTER = '--wasm-tiering-budget=300000000';

interface WaitingRequest {
  readonly resolve: (result: ThreadResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Starts the thread and waits until its database is open; an empty directory gets a new database. When a session ends
 * without `close`, `noteBreakdown` receives a promise that resolves when its thread has ended.
 */
async function startSession(
  directory: string,
  noteBreakdown: (error: LoteError, exit: Promise<unknown>) => void,
): Promise<Session> {
  // The flag applies to the whole process, and only to code loaded after this call.
  setFlagsFromString(OPTIMISE_AFTER);
  const worker = new Worker(entry(), { workerData: { directory }, execArgv: [] });
  // `once` of node:events also ends with an error, which comes before the thread has left the directory.
  const exit = new Promise((resolve) => worker.once('exit', resolve));
  const waiting: WaitingRequest[] = [];
  let gone: LoteError | null = null;

  worker.on('message', (result: ThreadResult) => waiting.shift()?.resolve(result));
  worker.on('error', (error) => giveUp(error.name));
  worker.on('exit', (code) => giveUp(`exit code ${code}`));

  const opened = await answer();
  if (opened.kind === 'broken') {
    await worker.terminate();
    throw new LoteError(
      'ledger-unavailable',
      `Opening the embedded ledger: its database must start, found ${opened.error}. See that the disk of the data directory has room: \`lote doctor\` says so.`,
    );
  }
  return { query, close };

  async function query<Row extends object>(text: string, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    const result = await ask({ text, params });
    if (result.kind === 'rows') return rowsOf(result.columns, result.rows);
    if (result.kind === 'refused') throw new StatementFailure(text, result.sqlState, result.constraint);
    // The WASM instance may be half-way through a write, so only a fresh one is safe.
    throw giveUp(result.error);
  }

  function ask(request: ThreadRequest): Promise<ThreadResult> {
    if (gone !== null) return Promise.reject(gone);
    worker.postMessage(request);
    return answer();
  }

  function answer(): Promise<ThreadResult> {
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  }

  /** Ends the session, which is no longer reliable: its work fails, and the next session starts with a recovery. */
  function giveUp(why: string): LoteError {
    if (gone === null) {
      gone = new LoteError(
        'ledger-unavailable',
        `Using the embedded ledger: its database broke down (${why}); nothing was acknowledged; it starts again by itself`,
      );
      noteBreakdown(gone, exit);
      void worker.terminate();
    }
    for (const one of waiting.splice(0)) one.reject(gone);
    return gone;
  }

  async function close(): Promise<void> {
    if (gone !== null) return;
    // A database that breaks down while it closes is like a crashed one: the next start recovers it.
    const closed = ask(null).catch(() => undefined);
    gone = new LoteError('ledger-unavailable', 'The embedded ledger is closed');
    await closed;
    await worker.terminate();
  }
}

/** The compiled thread is a plain file beside this one. In a checkout the thread is TypeScript and needs its loader first. */
function entry(): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL('./pglite-thread-from-source.mjs', import.meta.url)
    : new URL('./pglite-thread.js', import.meta.url);
}
