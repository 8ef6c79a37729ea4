import { Hono } from 'hono';
import type { Context } from 'hono';
import { html } from 'hono/html';
import { LoteError } from '../domain/errors.ts';
import type { LoteErrorCode } from '../domain/errors.ts';
import { batchPage, isLive } from './batch-page.ts';
import { batchesPage } from './batches-page.ts';
import { chooseLanguage } from './choose-language.ts';
import { consoleApi } from './console-api.ts';
import type { ConsoleOptions } from './console-options.ts';
import { CONSOLE_SCRIPT, CONSOLE_STYLE } from './console-style.ts';
import { guard } from './guard.ts';
import { healthChecks, healthPage } from './health.ts';
import { invoiceView } from './invoice-view.ts';
import { invoiceWindow } from './invoice-window.ts';
import { pageFormat } from './page-format.ts';
import type { PageFormat } from './page-format.ts';
import { pageLayout, webAddress } from './page-layout.ts';
import type { Html } from './page-layout.ts';
import { reportFileAnswer, reportFiles } from './report-files.ts';
import { securityHeaders } from './security-headers.ts';
import { stateCounts } from './state-counts.ts';

/** Older batches are found by their address; a page of more is a page that nobody reads. */
const BATCHES_SHOWN = 100;

interface Page {
  readonly title: string;
  readonly content: Html;
  readonly live?: boolean;
  readonly status?: 200 | 400 | 404 | 500 | 503;
}

/** The console's pages and its JSON API, over any ledger. */
export function createConsoleApp(options: ConsoleOptions): Hono {
  const { ledger, reportsDir, links, version, timeZone, onError } = options;
  const app = new Hono();

  function formatOf(context: Context): PageFormat {
    return pageFormat(chooseLanguage(context.req.header('accept-language') ?? ''), timeZone);
  }

  function show(context: Context, { title, content, live = false, status = 200 }: Page) {
    return context.html(
      pageLayout({ format: formatOf(context), title, content, live, version, temporalUi: links.temporalUi }),
      status,
    );
  }

  function notFound(context: Context) {
    const { texts } = formatOf(context);
    return show(context, { title: texts.notFound, content: html`<h1>${texts.notFound}</h1>`, status: 404 });
  }

  app.use(securityHeaders());
  app.use(guard({ token: options.token, access: options.access ?? 'loopback', hosts: options.hosts ?? [] }));
  app.get('/style.css', (context) => context.body(CONSOLE_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get('/live.js', (context) =>
    context.body(CONSOLE_SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );
  app.route('/api', consoleApi(options));

  app.get('/', async (context) => {
    const format = formatOf(context);
    const records = await ledger.listBatches(BATCHES_SHOWN);
    const batches = await Promise.all(
      records.map(async (batch) => ({ batch, counts: stateCounts(await ledger.countOutcomes(batch.batchId)) })),
    );
    return show(context, {
      title: format.texts.batches,
      content: batchesPage(format, batches),
      live: records.some(isLive),
    });
  });

  app.get('/health', async (context) => {
    const format = formatOf(context);
    return show(context, { title: format.texts.health, content: healthPage(format, await healthChecks(options)) });
  });

  app.get('/batches/:id', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return notFound(context);
    const { batchId } = batch;
    const counts = await ledger.countOutcomes(batchId);
    const view = invoiceView(stateCounts(counts), { show: context.req.query('show'), page: context.req.query('page') });
    const content = batchPage(formatOf(context), {
      batch,
      counts,
      view,
      invoices: await invoiceWindow(ledger, { batchId, states: view.states, page: view.page }),
      fileFindings: await ledger.fileFindings(batchId),
      reports: await reportFiles(reportsDir, batchId),
      temporalUi: workflowAddress(links, batch.workflowId),
    });
    return show(context, { title: batch.file, content, live: isLive(batch) });
  });

  app.get('/batches/:id/files/:name', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    const answer = batch === null ? null : await reportFileAnswer(reportsDir, batch.batchId, context.req.param('name'));
    return answer ?? notFound(context);
  });

  app.notFound((context) =>
    context.req.path.startsWith('/api/')
      ? context.json({ error: { code: 'not-found', message: 'There is nothing at this address.' } }, 404)
      : notFound(context),
  );

  app.onError((error, context) => {
    onError?.(error);
    const { code, message, status } = shownError(error, formatOf(context));
    if (context.req.path.startsWith('/api/')) return context.json({ error: { code, message } }, status);
    return show(context, { title: code, content: html`<h1>${message}</h1>`, status });
  });

  return app;
}

function workflowAddress({ temporalUi, namespace }: ConsoleOptions['links'], workflowId: string): string | null {
  const base = webAddress(temporalUi);
  return base === null
    ? null
    : `${base.replace(/\/+$/u, '')}/namespaces/${encodeURIComponent(namespace ?? 'default')}/workflows/${encodeURIComponent(workflowId)}`;
}

/** The message of a LoteError is made to be read by anyone; another one may hold what must not leave the process. */
function shownError(
  error: Error,
  { texts }: PageFormat,
): { readonly code: string; readonly message: string; readonly status: 400 | 500 | 503 } {
  if (!(error instanceof LoteError)) return { code: 'internal', message: texts.failure, status: 500 };
  const { code, message } = error;
  return { code, message, status: STATUS_BY_CODE[code] ?? 500 };
}

const STATUS_BY_CODE: Partial<Record<LoteErrorCode, 400 | 503>> = {
  usage: 400,
  'file-unreadable': 400,
  'configuration-invalid': 400,
  'ledger-unavailable': 503,
  'temporal-unavailable': 503,
  'service-unreachable': 503,
  'service-unauthorized': 503,
  'service-list-unreadable': 503,
  'worker-missing': 503,
  'owner-leaving': 503,
};
