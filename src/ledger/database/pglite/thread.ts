import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { DURABLE_START, DurableFiles } from './durable-files.ts';
import { isSqlState } from '../sql-state.ts';
import type { ThreadQuery, ThreadReply, ThreadRequest, ThreadResult } from './message.ts';
import { OPENED } from './message.ts';

/** Entry of the worker thread: PGlite computes where it stands, and in the main thread it kept every timer from firing. */

const INT8 = 20;

/** After these the server has ended, whatever it still answers: it would compute for ever and never say a word again. */
const LAST_WORDS = new Set(['FATAL', 'PANIC']);

const port = parentPort;
if (port !== null) await serve(port);

async function serve(main: NonNullable<typeof parentPort>): Promise<void> {
  const opened = await open();
  if (typeof opened === 'string') {
    post({ id: OPENED, results: [{ kind: 'broken', error: opened }] });
    return;
  }
  let last = Promise.resolve();
  main.on('message', (request: ThreadRequest) => {
    last = last.then(() => answer(request));
  });
  post({ id: OPENED, results: [] });

  async function answer(request: ThreadRequest): Promise<void> {
    if (request.queries === null) {
      await (opened as PGlite).close();
      post({ id: request.id, results: [] });
      main.close();
      return;
    }
    const results: ThreadResult[] = [];
    for (const query of request.queries) {
      const result = await run(opened as PGlite, query);
      results.push(result);
      // The next one would have no answer, and this one would never be told. The caller takes what is missing as no answer.
      if (result.kind === 'broken') break;
    }
    post({ id: request.id, results });
  }

  function post(reply: ThreadReply): void {
    main.postMessage(reply);
  }
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

async function run(database: PGlite, query: ThreadQuery): Promise<ThreadResult> {
  try {
    const { rows } = await database.query<object>(query.text, [...query.params]);
    return { kind: 'rows', rows };
  } catch (error) {
    const { code, constraint, severity } = error as { code?: unknown; constraint?: unknown; severity?: unknown };
    if (isSqlState(code)) {
      if (LAST_WORDS.has(String(severity))) return { kind: 'broken', error: `${String(severity)}, SQLSTATE ${code}` };
      return { kind: 'refused', sqlState: code, constraint: typeof constraint === 'string' ? constraint : null };
    }
    return { kind: 'broken', error: error instanceof Error ? error.name : 'unknown error' };
  }
}
