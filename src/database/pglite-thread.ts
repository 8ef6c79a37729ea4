import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { isSqlState } from './statement-failure.ts';
import { DURABLE_START, DurableFiles } from './durable-files.ts';
import type { SqlValue } from './database.ts';

/** A statement of the main thread; the worker thread runs them in their order of arrival. Null closes the database and ends the thread. */
export type ThreadRequest = { readonly text: string; readonly params: readonly SqlValue[] } | null;

/** The answer to each request. One answer comes first, when the database is open or has failed to open. */
export type ThreadResult =
  | { readonly kind: 'rows'; readonly columns: readonly string[]; readonly rows: readonly (readonly unknown[])[] }
  /** A refusal with the database's SQLSTATE; `constraint` is null if the error names none. */
  | { readonly kind: 'refused'; readonly sqlState: string; readonly constraint: string | null }
  /** The database has broken down and gives no more answers. */
  | { readonly kind: 'broken'; readonly error: string };

/** Entry of the worker thread. PGlite computes in the thread that calls it, and in the main thread it kept every timer from firing. */

const INT8 = 20;

const DONE: ThreadResult = { kind: 'rows', columns: [], rows: [] };

/** After an error of these severities the server has ended: without a restart it would compute for ever and never answer again. */
const LAST_WORDS = new Set(['FATAL', 'PANIC']);

const port = parentPort;
if (port !== null) await serve(port);

async function serve(main: NonNullable<typeof parentPort>): Promise<void> {
  const answer = (result: ThreadResult): void => main.postMessage(result);
  const opened = await open();
  if (typeof opened === 'string') {
    answer({ kind: 'broken', error: opened });
    return;
  }
  let last = Promise.resolve();
  let isBroken = false;
  main.on('message', (request: ThreadRequest) => {
    last = last.then(async () => {
      // No statement may run in a damaged instance; the main thread rejects its waiting requests.
      if (isBroken) return;
      if (request !== null) {
        const result = await run(opened, request);
        isBroken = result.kind === 'broken';
        return answer(result);
      }
      await opened.close();
      answer(DONE);
      main.close();
    });
  });
  answer(DONE);
}

async function open(): Promise<PGlite | string> {
  const { directory } = workerData as { directory: string };
  try {
    return await PGlite.create({
      fs: new DurableFiles(directory),
      startParams: [...DURABLE_START],
      parsers: { [INT8]: Number },
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function run(database: PGlite, query: NonNullable<ThreadRequest>): Promise<ThreadResult> {
  try {
    const { fields, rows } = await database.query<unknown[]>(query.text, [...query.params], { rowMode: 'array' });
    return { kind: 'rows', columns: fields.map((field) => field.name), rows };
  } catch (error) {
    const { code, constraint, severity } = error as { code?: unknown; constraint?: unknown; severity?: unknown };
    if (isSqlState(code)) {
      if (LAST_WORDS.has(String(severity))) return { kind: 'broken', error: `${String(severity)}, SQLSTATE ${code}` };
      return { kind: 'refused', sqlState: code, constraint: typeof constraint === 'string' ? constraint : null };
    }
    return { kind: 'broken', error: error instanceof Error ? error.name : 'unknown error' };
  }
}
