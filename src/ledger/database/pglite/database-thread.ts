import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { LoteError } from '../../../domain/errors.ts';
import type { ThreadQuery, ThreadReply, ThreadRequest, ThreadResult } from './message.ts';
import { OPENED } from './message.ts';

/** The main thread's end of the protocol. */
export interface DatabaseThread {
  /** @throws LoteError `ledger-unavailable` when the thread is gone. */
  run(queries: readonly ThreadQuery[]): Promise<readonly ThreadResult[]>;
  close(): Promise<void>;
  /** Ends the thread as it is, whatever it computes. Resolves when it has ended: only then may another one open the directory. */
  terminate(): Promise<void>;
}

/**
 * Work that a function of the database does before V8 optimises it; V8's own bound is 1,800,000. Most functions of a start
 * reach that and never pay for it. At 60,000,000 a run of 14 invoices took 3.9 to 4.2 s of CPU with its Temporal server, at
 * this bound it takes 3.6 to 3.8 s, and a batch of 5,000 no more than before (docs/testing.md).
 */
const OPTIMISE_AFTER = '--wasm-tiering-budget=300000000';

interface Waiting {
  readonly resolve: (results: readonly ThreadResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Starts the thread and waits until its database is open; in an empty directory it is made first. */
export async function startDatabaseThread(directory: string): Promise<DatabaseThread> {
  // The bound is one of the process; it counts for code that is loaded from now on.
  setFlagsFromString(OPTIMISE_AFTER);
  const worker = new Worker(entry(), { workerData: { directory }, execArgv: [] });
  const waiting = new Map<number, Waiting>();
  let lastId = OPENED;
  let gone: LoteError | null = null;

  worker.on('message', (reply: ThreadReply) => {
    waiting.get(reply.id)?.resolve(reply.results);
    waiting.delete(reply.id);
  });
  worker.on('error', (error) => leave(error.name));
  worker.on('exit', (code) => leave(`exit code ${code}`));

  const [failure] = await reply(OPENED);
  if (failure?.kind === 'broken') {
    await worker.terminate();
    throw new LoteError(
      'ledger-unavailable',
      `Opening the embedded ledger: its database must start, found ${failure.error}. See that the disk of the data directory has room: \`lote doctor\` says so.`,
    );
  }
  return {
    run: (queries) => send(queries),
    close,
    async terminate() {
      await worker.terminate();
    },
  };

  function send(queries: readonly ThreadQuery[] | null): Promise<readonly ThreadResult[]> {
    if (gone !== null) return Promise.reject(gone);
    lastId += 1;
    const request: ThreadRequest = { id: lastId, queries };
    worker.postMessage(request);
    return reply(lastId);
  }

  function reply(id: number): Promise<readonly ThreadResult[]> {
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
    });
  }

  function leave(why: string): void {
    gone ??= new LoteError(
      'ledger-unavailable',
      `The embedded ledger's thread has ended (${why}); nothing unanswered was acknowledged`,
    );
    for (const one of waiting.values()) one.reject(gone);
    waiting.clear();
  }

  async function close(): Promise<void> {
    if (gone !== null) return;
    const closed = send(null);
    gone = new LoteError('ledger-unavailable', 'The embedded ledger is closed');
    await closed;
    await worker.terminate();
  }
}

/** Compiled, the thread is a plain file beside this one; in a checkout it is TypeScript and needs its loader first. */
function entry(): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL('./thread-from-source.mjs', import.meta.url)
    : new URL('./thread.js', import.meta.url);
}
