import { Readable } from 'node:stream';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import type { LoteErrorCode } from '../../domain/errors.ts';
import { ownZone } from '../../domain/time/zone-offsets.ts';
import { everyCountByOutcome } from '../../domain/outcome-counts.ts';
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
  type ReadBatch,
} from '../operations.ts';
import { healthChecks } from './overview-routes.ts';
import { reportFiles } from '../http/report-downloads.ts';
import { callerOf, noteAct } from '../http/people.ts';
import type { BatchInvoice } from '../../domain/records/batch-record.ts';

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
    return context.json({ batches: batches.map(withEveryCount) });
  });

  api.get('/misfits', async (context) => context.json({ misfits: (await options.misfits?.()) ?? [] }));

  api.get('/invoices', (context) => search(context, options));

  api.get('/batches/:id', async (context) => {
    const batch = await readBatch(ledger, context.req.param('id'));
    if (batch === null) return batchNotFound(context);
    return context.json({
      ...withEveryCount(batch),
      outcomes: await batchOutcomes(ledger, batch.batchId),
      fileFindings: await ledger.fileFindings(batch.batchId),
      reports: await reportFiles(options.reportsDir, batch.batchId),
    });
  });

  api.get('/batches/:id/invoices', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return batchNotFound(context);
    await noteAct(context, options.people, [batch.batchId], { what: 'download', why: 'invoices' });
    const lines = Readable.from(linesOf(ledger.batchInvoices(batch.batchId), options), { highWaterMark: 1 });
    return context.body(Readable.toWeb(lines) as ReadableStream<Uint8Array>, 200, {
      'content-type': 'application/x-ndjson',
    });
  });

  const limited = (maxSize: number) =>
    bodyLimit({
      maxSize,
      onError: (context) => failure(context, 413, 'usage', `The body must be at most ${maxSize} bytes.`),
    });
  api.post('/run', limited(MOST_BODY_BYTES), (context) => handOver(context, options));
  // These need the token: a purge is final, references are personal data, and no page asks for them.
  api.post('/purge', limited(MOST_BODY_BYTES), (context) =>
    forProgram(context, { title: 'Purging', token, body: PurgeRequest, act: actions?.purge }),
  );
  api.post('/rows', limited(MOST_REFS_BYTES), (context) =>
    forProgram(context, { title: 'Finding rows', token, body: RowsRequest, act: actions?.rowsOfRefs }),
  );
  return api;
}

/** Writes one invoice a line. An error half-way aborts the answer, because the lines so far must not pass for all. */
async function* linesOf(
  portions: AsyncIterable<readonly BatchInvoice[]>,
  { onError }: Pick<ConsoleOptions, 'onError'>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const portion of portions)
      yield Buffer.from(portion.map((invoice) => `${JSON.stringify(invoice)}\n`).join(''));
  } catch (error) {
    onError?.(error);
    throw error;
  }
}

async function search(context: Context, options: ConsoleOptions): Promise<Response> {
  const query = readSearchQuery((name) => context.req.query(name), options.timeZone ?? ownZone());
  const result = await answerSearch(options.ledger, query);
  if (result === null) return failure(context, 400, 'usage', unreadableSearch(query));
  const batchIds = result.found.map(({ batchId }) => batchId);
  await noteAct(context, options.people, batchIds, { what: 'download', why: 'invoices' });
  return context.json(result);
}

function withEveryCount(batch: ReadBatch) {
  return { ...batch, counts: { ...everyCountByOutcome([]), ...batch.counts } };
}

async function handOver(context: Context, { actions, token, people }: ConsoleOptions): Promise<Response> {
  if (actions?.run === undefined) return failure(context, 501, 'usage', 'This process cannot start a run.');
  const body = RunRequest.safeParse(await context.req.json().catch(() => null));
  if (!body.success) return failure(context, 400, 'usage', `Starting a run: ${z.prettifyError(body.error)}`);
  const note = (id: string, file: string) => noteAct(context, people, [id], { what: 'start', why: file });
  return context.json(await actions.run(body.data, { anywhere: isProgram(context, token), note }), 202);
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
