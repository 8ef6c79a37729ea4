import { type Context, Hono } from 'hono';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { auditTable } from '../../texts/outcomes/outcome-html.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { reportFileAnswer, reportFiles, csvAnswer } from '../http/report-downloads.ts';
import { batchPage, readBatchPage } from '../pages/batch-page.ts';
import { doneNote } from './operate-routes.ts';
import { invoicePage } from '../pages/invoice-page.ts';
import { listPages, listPart } from '../pages/notes.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { isLive } from '../pages/state-counts.ts';
import { actionsFor, noteAct } from '../people/people.ts';
import type { AuditEntry } from '../../ledger/operations/audit.ts';

/** Serves one batch, its invoices, its files, and its audit of manual acts. */
export function batchRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger } = options;
  const routes = new Hono();

  routes.get('/:id', async (context) => {
    const id = context.req.param('id');
    const batch = await ledger.findBatch(id);
    return batch === null ? showUnknownBatch(context, id, options, pages) : showBatch(context, batch, options, pages);
  });

  routes.get('/:id/invoices/:ordinal{[0-9]{1,9}}', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    const ordinal = Number(context.req.param('ordinal'));
    const details = batch === null ? null : await ledger.invoiceDetails(batch.batchId, ordinal);
    if (batch === null || details === null) return pages.notFound(context);
    const format = pages.formatOf(context);
    const canAct = actionsFor(context, options.actions) !== undefined;
    const done = doneNote(format, context.req.query());
    const content = invoicePage(format, { batch, details, canAct, done });
    return pages.show(context, { title: details.line.ref, content });
  });

  auditRoutes(routes, options, pages);

  routes.get('/:id/files/:name', async (context) => {
    const { id, name } = context.req.param();
    const batch = await ledger.findBatch(id);
    if (batch === null || !(await reportFiles(options.reportsDir, id)).includes(name)) return pages.notFound(context);
    await noteAct(context, options.people, id, { what: 'download', why: name });
    return reportFileAnswer(options.reportsDir, id, name);
  });

  return routes;
}

/** Entries on one page; each names up to twenty invoices. */
const ENTRIES_OF_A_PAGE = 50;
/** A number beyond every last page. */
const NEWEST = '9999999';

function auditRoutes(routes: Hono, { ledger, people }: ConsoleOptions, pages: PageAnswers): void {
  routes.get('/:id/audit', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return pages.notFound(context);
    const format = pages.formatOf(context);
    const audit = await ledger.auditOf(batch.batchId);
    const content = auditPage(format, batch, { audit, asked: context.req.query('page') });
    return pages.show(context, { title: format.texts.audit.title, content });
  });

  routes.get('/:id/audit.csv', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return pages.notFound(context);
    await noteAct(context, people, batch.batchId, { what: 'download', why: 'audit.csv' });
    return csvAnswer(context, 'audit', auditRecords(await ledger.auditOf(batch.batchId)));
  });
}

function auditPage(
  format: PageFormat,
  batch: BatchRecord,
  { audit, asked = NEWEST }: { readonly audit: readonly AuditEntry[]; readonly asked: string | undefined },
): SafeHtml {
  const { audit: words, auditPage: own } = format.texts;
  const page = `/batches/${encodeURIComponent(batch.batchId)}`;
  const part = listPart(audit.length, ENTRIES_OF_A_PAGE, asked);
  const shown = audit.slice((part.page - 1) * ENTRIES_OF_A_PAGE, part.page * ENTRIES_OF_A_PAGE);
  return html`<p><a href="${page}">← ${batch.file}</a></p>
    <h1>${words.title}</h1>
    ${audit.length === 0 ? html`<p>${own.none}</p>` : auditTable(format, shown)}
    ${listPages(format, part, (other) => `${page}/audit?page=${other}`)}
    <p class="soft">${own.note}</p>
    ${audit.length === 0 ? '' : html`<p><a class="button" href="${page}/audit.csv">${own.download}</a></p>`}`;
}

function auditRecords(audit: readonly AuditEntry[]): readonly (readonly string[])[] {
  const records = audit.map((entry) => [
    new Date(entry.at).toISOString(),
    entry.who ?? '',
    entry.what,
    entry.why,
    entry.acceptedDuplicateRisk ? 'yes' : 'no',
    String(entry.invoices),
    entry.examples.map(({ ref, from, move }) => `${ref}: ${from}, ${move}`).join('\n'),
  ]);
  return [['at', 'who', 'what', 'why', 'accepted_duplicate_risk', 'invoices', 'among_them'], ...records];
}

/** Shows a batch that was started a moment ago: the worker has not read it yet, or knows its bytes as another batch. */
async function showUnknownBatch(
  context: Context,
  id: string,
  { ledger, application = 'default' }: ConsoleOptions,
  pages: PageAnswers,
): Promise<Response> {
  const { texts } = pages.formatOf(context);
  const sha256 = context.req.query('started');
  if (sha256 === undefined) return pages.notFound(context);
  const known = await ledger.batchOfFile(application, sha256);
  if (known !== null) return context.redirect(`/batches/${encodeURIComponent(known.batchId)}`, 303);
  const content = html`<h1>${id}</h1>
    <p role="status">${texts.waitingForWorker}</p>`;
  return pages.show(context, { title: id, content, live: true });
}

async function showBatch(
  context: Context,
  batch: BatchRecord,
  options: ConsoleOptions,
  pages: PageAnswers,
): Promise<Response> {
  const format = pages.formatOf(context);
  const { show, page: listPage } = context.req.query();
  const actions = actionsFor(context, options.actions);
  const page = await readBatchPage(batch, options, { actions, show, page: listPage });
  const content = batchPage(format, page, doneNote(format, context.req.query()));
  // The batch ends a moment before its report is written: a page that stopped reloading then would never show the report.
  return pages.show(context, { title: batch.file, content, live: isLive(batch) || page.reports.length === 0 });
}
