import { Readable } from 'node:stream';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import type { LoteErrorCode } from '../../domain/errors.ts';
import type { BatchInvoice, BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { SHORTEST_PURGE_AGE_MS } from '../../domain/ports/ledger/purge-ledger.ts';
import { ownZone } from '../../domain/time/own-zone.ts';
import { batchOutcomes, shortfallOf, withShortfalls } from '../../domain/batch-outcomes.ts';
import type { ConsoleOptions, PurgeRequest } from '../console-options.ts';
import { carriesToken, TOKEN_HEADER } from '../http/guard.ts';
import { healthChecks } from '../pages/health-page.ts';
import { reportFiles, reportsDirOf } from '../http/report-downloads.ts';
import { stateCounts } from '../pages/state-counts.ts';
import { callerOf } from '../people/caller.ts';
import { noteAct } from '../people/people.ts';
import { answerSearch } from '../search/answer-search.ts';
import { noteFound } from '../search/note-found.ts';
import { positionWord, readSearchQuery, unreadableSearch } from '../search/search-query.ts';

const MOST_BATCHES = 500;
const USUAL_BATCHES = 100;
/** A hand-over names files; it never carries them. */
const MOST_BODY_BYTES = 256 * 1024;

const RunRequestBody = z.object({
  files: z.array(z.string().min(1)).min(1),
  options: z.record(z.string(), z.unknown()).default({}),
});

const PurgeRequestBody = z.object({ olderThanMs: z.int().min(SHORTEST_PURGE_AGE_MS), dryRun: z.boolean() });

/** The JSON API over the ledger, for other processes of one data directory and for scripts. */
export function consoleApi(options: ConsoleOptions): Hono {
  const { ledger, version } = options;
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
    const batches = await ledger.listBatches(limit, context.req.query('application') ?? null);
    return context.json({
      batches: await Promise.all(
        (await withShortfalls(ledger, batches)).map(async ({ batch, shortfall }) => ({
          ...shown(batch),
          ...shortfall,
          counts: stateCounts(await batchOutcomes(ledger, batch.batchId)),
          total: await ledger.totalCheck(batch.batchId),
        })),
      ),
    });
  });

  api.get('/misfits', async (context) => context.json({ misfits: (await options.misfits?.()) ?? [] }));

  api.get('/invoices', (context) => search(context, options));

  api.get('/batches/:id', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return batchNotFound(context);
    const outcomes = await batchOutcomes(ledger, batch.batchId);
    const fileFindings = await ledger.fileFindings(batch.batchId);
    return context.json({
      ...shown(batch),
      ...shortfallOf(batch, fileFindings, (await ledger.contradictedInvoices([batch.batchId])).get(batch.batchId)),
      counts: stateCounts(outcomes),
      outcomes,
      total: await ledger.totalCheck(batch.batchId),
      fileFindings,
      reports: await reportFiles(reportsDirOf(options, batch), batch.batchId),
    });
  });

  api.get('/batches/:id/invoices', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return batchNotFound(context);
    await noteAct(context, options.people, batch.batchId, { what: 'download', why: 'invoices' });
    const lines = Readable.from(linesOf(ledger.batchInvoices(batch.batchId), options), { highWaterMark: 1 });
    return context.body(Readable.toWeb(lines) as ReadableStream<Uint8Array>, 200, {
      'content-type': 'application/x-ndjson',
    });
  });

  takeOrders(api, options);
  return api;
}

/** One invoice a line. What fails half-way breaks the answer off, for the lines before must not pass for all. */
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

/** What other processes of the data directory hand over. */
function takeOrders(api: Hono, options: ConsoleOptions): void {
  const smallBody = bodyLimit({ maxSize: MOST_BODY_BYTES, onError: bodyTooLarge });
  api.post('/run', smallBody, (context) => handOver(context, options));
  api.post('/purge', smallBody, (context) => purge(context, options, {}));
  // An address of its own: a Lote that knows no applications must not purge the batches of all.
  api.post('/applications/:application/purge', smallBody, (context) =>
    purge(context, options, { application: context.req.param('application') }),
  );
}

async function search(context: Context, options: ConsoleOptions): Promise<Response> {
  const query = readSearchQuery((name) => context.req.query(name), zoneOf(options));
  const result = await answerSearch(options.ledger, query);
  if (result === null) return failure(context, 400, 'usage', unreadableSearch(query));
  await noteFound(context, options.people, result, 'invoices');
  return context.json({ ...result, next: result.next === null ? null : positionWord(result.next) });
}

/** In which the days of a search begin, as on the pages. */
function zoneOf({ timeZone }: ConsoleOptions): string {
  return timeZone ?? ownZone();
}

/** The fencing token is the ledger's own: it tells a reader nothing. */
function shown(batch: BatchRecord): Omit<BatchRecord, 'fencingToken'> {
  const { fencingToken: _, ...others } = batch;
  return others;
}

async function handOver(context: Context, { actions, token, people }: ConsoleOptions): Promise<Response> {
  if (actions?.run === undefined) return failure(context, 501, 'usage', 'This process cannot start a run.');
  const body = RunRequestBody.safeParse(await context.req.json().catch(() => null));
  if (!body.success) return failure(context, 400, 'usage', `Starting a run: ${z.prettifyError(body.error)}`);
  const note = (id: string, file: string) => noteAct(context, people, id, { what: 'start', why: file });
  return context.json(await actions.run(body.data, { anywhere: isProgram(context, token), note }), 202);
}

/** What is purged is gone: a page of the console is not enough for it. */
async function purge(
  context: Context,
  { actions, token }: ConsoleOptions,
  whose: Pick<PurgeRequest, 'application'>,
): Promise<Response> {
  if (!isProgram(context, token)) {
    return failure(
      context,
      403,
      'usage',
      `Purging needs the token of the console in ${TOKEN_HEADER}; the command purge has it.`,
    );
  }
  if (actions?.purge === undefined) return failure(context, 501, 'usage', 'This process cannot purge.');
  const body = PurgeRequestBody.safeParse(await context.req.json().catch(() => null));
  if (!body.success) return failure(context, 400, 'usage', `Purging: ${z.prettifyError(body.error)}`);
  return context.json(await actions.purge({ ...body.data, ...whose }));
}

/** A person stays one, whatever the proxy adds to the requests. */
function isProgram(context: Context, token: string | undefined): boolean {
  return callerOf(context).kind !== 'person' && carriesToken(context, token);
}

function bodyTooLarge(context: Context): Response {
  return failure(context, 413, 'usage', `The body must be at most ${MOST_BODY_BYTES} bytes.`);
}

function batchNotFound(context: Context): Response {
  return failure(
    context,
    404,
    'batch-not-found',
    'The ledger does not know this batch. /api/batches lists those it knows.',
  );
}

function failure(
  context: Context,
  status: 400 | 403 | 404 | 413 | 501,
  code: LoteErrorCode,
  message: string,
): Response {
  return context.json({ error: { code, message } }, status);
}
