import { LoteError } from '../../../domain/errors.ts';
import { startDatabaseThread, type DatabaseThread } from './database-thread.ts';

/** One start of the database; what was begun in it ends with it. */
export interface Session extends Pick<DatabaseThread, 'run'> {
  /** Nothing of this session can be trusted any more: what runs in it fails, and the next one starts with a recovery. */
  giveUp(why: string): LoteError;
}

/** The embedded database over all its starts. */
export interface LastingDatabase {
  /** The session at hand, or a new one. @throws LoteError `ledger-unavailable` while the database does not start. */
  session(): Promise<Session>;
  close(): Promise<void>;
}

/** A start that failed (a full disk) is tried again after this at the earliest: each costs half a second of computing. */
const START_PAUSE_MS = 1_000;

/**
 * PGlite that starts again after it broke down. A full disk makes it panic when it cannot write its log; from then on its thread computes for ever. What was
 * acknowledged is on disk, as after a crash, and the next start recovers it. A database in memory has nothing to
 * start from and stays broken.
 */
export async function openLastingDatabase(directory: string | null): Promise<LastingDatabase> {
  let thread: DatabaseThread | null = null;
  let current: Session | null = null;
  let ending: Promise<void> = Promise.resolve();
  let starting: Promise<Session> | null = null;
  let failed: { readonly error: unknown; readonly at: number } | null = null;
  let closed = false;
  await start();

  return {
    async session() {
      if (closed) throw new LoteError('ledger-unavailable', 'The embedded ledger is closed');
      if (current !== null) return current;
      if (failed !== null && performance.now() - failed.at < START_PAUSE_MS) throw failed.error;
      return (starting ??= start());
    },
    async close() {
      if (closed) return;
      closed = true;
      await starting?.catch(() => undefined);
      await thread?.close();
    },
  };

  async function start(): Promise<Session> {
    try {
      // Two threads in one directory would both write.
      await ending;
      thread = await startDatabaseThread(directory);
      current = sessionOf(thread);
      failed = null;
      return current;
    } catch (error) {
      failed = { error, at: performance.now() };
      throw error;
    } finally {
      starting = null;
    }
  }

  function sessionOf(started: DatabaseThread): Session {
    let broken: LoteError | null = null;

    function giveUp(why: string): LoteError {
      if (broken !== null) return broken;
      const next = directory === null ? 'start Lote again' : 'it starts again by itself';
      broken = new LoteError(
        'ledger-unavailable',
        `Using the embedded ledger: its database broke down (${why}); nothing was acknowledged; ${next}`,
      );
      // A database in memory has nothing to start from.
      if (directory === null || closed) return broken;
      thread = null;
      current = null;
      failed = { error: broken, at: performance.now() };
      ending = started.terminate();
      return broken;
    }

    return {
      giveUp,
      async run(queries) {
        if (broken !== null) throw broken;
        try {
          return await started.run(queries);
        } catch (error) {
          // The thread itself has ended.
          throw closed ? error : giveUp(error instanceof Error ? error.message : 'no answer');
        }
      },
    };
  }
}
