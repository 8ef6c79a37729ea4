import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import type { LoteErrorCode } from '../../domain/errors.ts';
import { ownZone } from '../../domain/time/zone-offsets.ts';
import { batchOutcomes } from '../../domain/batch-outcomes.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { carriesToken, TOKEN_HEADER } from '../http/guard.ts';
import {
  answerSearch,
  PurgeRequest,
  readBatch,
  readBatches,
  readSearchQuery,
  RowsRequest,
  RunRequest,
  unreadableSearch,
} from '../operations.ts';
import { healthChecks } from './overview-routes.ts';
import { reportFiles } from '../http/report-downloads.ts';
import { callerOf, noteAct } from '../http/people.ts';

const MOST_BATCHES = 500;
const USUAL_BATCHES = 100;
/** A hand-over names files and never contains them. */
const MOST_BODY_BYTES = 256 * 1024;
const MOST_REFS_BYTES = 4 * 1024 * 1024;

/** Serves the JSON API over the ledger, for other processes of one data directory and for scripts. */
export function consoleApi(options: ConsoleOptions): Hono {
  const { ledger, version, actions, token } = options;
  const api = new Hono();

  api.get('/health', async (context) => {
    const checks = await healthChecks(options);
    const healthy = checks.every(({ state }) => state !== 'trouble');
    return context.json(
      { status: healthy ? 'up' : 'trouble', version, ledgerId: ledger.id, checks },
      healthy ? 200 : 503,
    );
  });

  api.get('/batches', async (context) => {
    const asked = Number(context.req.query('limit') ?? USUAL_BATCHES);
    const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MOST_BATCHES) : USUAL_BATCHES;
    const batches = await readBatches(ledger, await ledger.listBatches(limit));
    return context.json({ batches });
  });

  api.get('/misfits', async (context) => context.json({ misfits: (await options.misfits?.()) ?? [] }));

  api.get('/invoices', (context) => search(context, options));

  api.get('/batches/:id', async (context) => {
    const batch = await readBatch(ledger, context.req.param('id'));
    if (batch === null) return batchNotFound(context);
    return context.json({
      ...batch,
      outcomes: await batchOutcomes(ledger, batch.batchId),
      fileFindings: await ledger.fileFindings(batch.batchId),
      reports: await reportFiles(options.reportsDir, batch.batchId),
    });
  });

  const limited = (maxSize: number) =>
    bodyLimit({
      maxSize,
      onError: (context) => failure(context, 413, 'usage', `The body must be at most ${maxSize} bytes.`),
    });
  // These need the token, and no page asks for them: a run reads files from anywhere, a purge is final, references are personal data.
  api.post('/run', limited(MOST_BODY_BYTES), (context) =>
    forProgram(context, { title: 'Starting a run', token, body: RunRequest, act: runOf(context, options) }),
  );
  api.post('/purge', limited(MOST_BODY_BYTES), (context) =>
    forProgram(context, { title: 'Purging', token, body: PurgeRequest, act: actions?.purge }),
  );
  api.post('/rows', limited(MOST_REFS_BYTES), (context) =>
    forProgram(context, { title: 'Finding rows', token, body: RowsRequest, act: actions?.rowsOfRefs }),
  );
  return api;
}

async function search(context: Context, options: ConsoleOptions): Promise<Response> {
  const query = readSearchQuery((name) => context.req.query(name), options.timeZone ?? ownZone());
  const result = await answerSearch(options.ledger, query);
  if (result === null) return failure(context, 400, 'usage', unreadableSearch(query));
  const batchIds = result.found.map(({ batchId }) => batchId);
  await noteAct(context, options.people, batchIds, { what: 'download', why: 'invoices' });
  return context.json(result);
}

function runOf(context: Context, { actions, people }: ConsoleOptions): ProgramOrder<RunRequest>['act'] {
  const run = actions?.run;
  const note = (id: string, file: string) => noteAct(context, people, [id], { what: 'start', why: file });
  return run === undefined ? undefined : (request) => run(request, note);
}

interface ProgramOrder<Body> {
  readonly title: string;
  readonly token: string | undefined;
  readonly body: z.ZodType<Body>;
  readonly act: ((body: Body) => Promise<unknown>) | undefined;
}

async function forProgram<Body>(context: Context, { title, token, body, act }: ProgramOrder<Body>): Promise<Response> {
  const needed = `${title} needs the token of the console in ${TOKEN_HEADER}; the command has it.`;
  if (!isProgram(context, token)) return failure(context, 403, 'usage', needed);
  if (act === undefined) return failure(context, 501, 'usage', `${title}: this process cannot do it.`);
  const read = body.safeParse(await context.req.json().catch(() => null));
  if (!read.success) return failure(context, 400, 'usage', `${title}: ${z.prettifyError(read.error)}`);
  return context.json(await act(read.data));
}

/** Returns true for a program with the token. A person stays a person, whatever the proxy adds to the requests. */
function isProgram(context: Context, token: string | undefined): boolean {
  return callerOf(context).kind !== 'person' && carriesToken(context, token);
}

function batchNotFound(context: Context): Response {
  const message = 'The ledger does not know this batch. /api/batches lists those it knows.';
  return failure(context, 404, 'batch-not-found', message);
}

function failure(
  context: Context,
  status: 400 | 403 | 404 | 413 | 501,
  code: LoteErrorCode,
  message: string,
): Response {
  return context.json({ error: { code, message } }, status);
}
