import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import type { ConsoleActions, ConsoleOptions } from './console-options.ts';
import { formTokens } from './forms/form-token.ts';
import { healthChecks, healthPage } from './health.ts';
import { CONSOLE_ICON } from './http/console-icon.ts';
import { CONSOLE_SCRIPT } from './http/console-script.ts';
import { CONSOLE_STYLE } from './http/console-style.ts';
import { guard } from './http/guard.ts';
import { pageAnswers } from './http/page-answers.ts';
import { securityHeaders } from './http/security-headers.ts';
import { shownError } from './http/shown-error.ts';
import { batchesPage } from './pages/batches-page.ts';
import { profilePage } from './pages/profile-page.ts';
import { MOST_FOUND, searchPage } from './pages/search-page.ts';
import { stateCounts } from './pages/state-counts.ts';
import { isLive } from './pages/verdict.ts';
import { batchRoutes } from './routes/batch-routes.ts';
import { consoleApi } from './routes/console-api.ts';
import { fileRoutes } from './routes/file-routes.ts';
import { nightlyRoutes } from './routes/nightly-routes.ts';
import { operateRoutes } from './routes/operate-routes.ts';
import { probeRoutes, readyOf } from './routes/probe-routes.ts';
import type { BatchRecord } from '../domain/ports/ledger.ts';

/** Batches that are asked for on one page; each costs a few questions to Temporal. */
const MOST_ASKED = 10;

/** Ids of the batches whose run does not go on, as far as Temporal answers in time. */
async function stuckAmong(
  records: readonly BatchRecord[],
  actions: ConsoleActions | undefined,
): Promise<ReadonlySet<string>> {
  const live = records.filter(isLive).slice(0, MOST_ASKED);
  const found = await Promise.all(
    live.map(async ({ batchId, workflowId }) =>
      ((await actions?.stuck?.(workflowId)) ?? null) === null ? [] : [batchId],
    ),
  );
  return new Set(found.flat());
}

/** Older batches are found by their address; a page of more is a page that nobody reads. */
const BATCHES_SHOWN = 100;
/** Every form but the one that carries a file. */
const MOST_FORM_BYTES = 16 * 1024;
const LONGEST_SEARCH = 200;

/** The console's pages and its JSON API, over any ledger. */
export function createConsoleApp(options: ConsoleOptions): Hono {
  const { ledger, onError, actions, serviceProfile } = options;
  const app = new Hono();
  const forms = formTokens((options.token ?? '') === '' ? randomBytes(32).toString('hex') : (options.token ?? ''));
  const pages = pageAnswers(options, forms);
  const smallForm = bodyLimit({
    maxSize: MOST_FORM_BYTES,
    onError: (context) => context.text(`A form must be of at most ${MOST_FORM_BYTES} bytes.`, 413),
  });

  app.use(securityHeaders());
  probeRoutes(app, options);
  app.use(
    guard({
      token: options.token,
      access: options.access ?? 'loopback',
      hosts: options.hosts ?? [],
      forms,
      ready: readyOf(options),
    }),
  );
  app.get('/style.css', (context) => context.body(CONSOLE_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get('/live.js', (context) =>
    context.body(CONSOLE_SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );
  app.get('/icon.svg', (context) => context.body(CONSOLE_ICON, 200, { 'content-type': 'image/svg+xml' }));
  app.route('/api', consoleApi(options));

  app.get('/', async (context) => {
    const format = pages.formatOf(context);
    const records = await ledger.listBatches(BATCHES_SHOWN);
    const batches = await Promise.all(
      records.map(async (batch) => ({ batch, counts: stateCounts(await ledger.countOutcomes(batch.batchId)) })),
    );
    const stuck = await stuckAmong(records, actions);
    return pages.show(context, {
      title: format.texts.batches,
      content: batchesPage(format, {
        batches,
        stuck,
        upload: actions?.files !== undefined,
        showsOnly: options.showsOnly === true,
      }),
      live: records.some(isLive),
    });
  });

  app.get('/search', async (context) => {
    const format = pages.formatOf(context);
    const words = (context.req.query('q') ?? '').trim().slice(0, LONGEST_SEARCH);
    const found = words === '' ? [] : await ledger.findInvoices(words, MOST_FOUND);
    return pages.show(context, { title: format.texts.search.title, content: searchPage(format, words, found) });
  });

  app.get('/health', async (context) => {
    const format = pages.formatOf(context);
    const checks = await healthChecks(options);
    return pages.show(context, {
      title: format.texts.health,
      content: healthPage(format, checks),
      ...(checks.some(({ state }) => state === 'trouble') ? { status: 503 } : {}),
    });
  });

  app.get('/profile', (context) => {
    const format = pages.formatOf(context);
    return pages.show(context, { title: format.texts.profile, content: profilePage(format, serviceProfile ?? {}) });
  });

  app.use('/start', smallForm);
  app.use('/batches/*', smallForm);
  app.route('/batches', batchRoutes(options, pages));
  app.route('/batches', operateRoutes(options, pages));
  app.route('/nights', nightlyRoutes(options, pages));
  if (actions?.files !== undefined) app.route('/', fileRoutes(options, actions.files, pages));

  app.notFound((context) =>
    context.req.path.startsWith('/api/')
      ? context.json({ error: { code: 'not-found', message: 'There is nothing at this address.' } }, 404)
      : pages.notFound(context),
  );

  app.onError((error, context) => {
    onError?.(error);
    return failed(error, context);
  });

  function failed(error: Error, context: Context) {
    const { texts } = pages.formatOf(context);
    const { code, message, status } = shownError(error, texts.failure);
    if (context.req.path.startsWith('/api/')) return context.json({ error: { code, message } }, status);
    const content = html`<h1>${message}</h1>
      <p class="soft"><a href="/">${texts.back}</a> · ${code}</p>`;
    return pages.show(context, { title: code, content, status });
  }

  return app;
}
