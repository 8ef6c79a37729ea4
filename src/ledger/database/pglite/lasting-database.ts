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
 * acknowledged is on disk, as after a crash, and the next start recovers it.
 */
export async function openLastingDatabase(directory: string): Promise<LastingDatabase> {
  const database = new RestartingDatabase(directory);
  await database.start();
  return database;
}

class RestartingDatabase implements LastingDatabase {
  readonly #directory: string;
  #thread: DatabaseThread | null = null;
  #current: Session | null = null;
  #ending: Promise<void> = Promise.resolve();
  #starting: Promise<Session> | null = null;
  #failed: { readonly error: unknown; readonly at: number } | null = null;
  #closed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async session(): Promise<Session> {
    if (this.#closed) throw new LoteError('ledger-unavailable', 'The embedded ledger is closed');
    if (this.#current !== null) return this.#current;
    if (this.#failed !== null && performance.now() - this.#failed.at < START_PAUSE_MS) throw this.#failed.error;
    return (this.#starting ??= this.start());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#starting?.catch(() => undefined);
    await this.#thread?.close();
  }

  async start(): Promise<Session> {
    try {
      // Two threads in one directory would both write.
      await this.#ending;
      const thread = await startDatabaseThread(this.#directory);
      this.#thread = thread;
      this.#current = this.#sessionOf(thread);
      this.#failed = null;
      return this.#current;
    } catch (error) {
      this.#failed = { error, at: performance.now() };
      throw error;
    } finally {
      this.#starting = null;
    }
  }

  #sessionOf(thread: DatabaseThread): Session {
    let broken: LoteError | null = null;
    const giveUp = (why: string): LoteError => {
      if (broken !== null) return broken;
      broken = this.#breakdown(why);
      this.#endSession(thread, broken);
      return broken;
    };
    return {
      giveUp,
      run: async (queries) => {
        if (broken !== null) throw broken;
        try {
          return await thread.run(queries);
        } catch (error) {
          // The thread itself has ended.
          throw this.#closed ? error : giveUp(error instanceof Error ? error.message : 'no answer');
        }
      },
    };
  }

  #breakdown(why: string): LoteError {
    return new LoteError(
      'ledger-unavailable',
      `Using the embedded ledger: its database broke down (${why}); nothing was acknowledged; it starts again by itself`,
    );
  }

  #endSession(thread: DatabaseThread, error: LoteError): void {
    if (this.#closed) return;
    this.#thread = null;
    this.#current = null;
    this.#failed = { error, at: performance.now() };
    this.#ending = thread.terminate();
  }
}
