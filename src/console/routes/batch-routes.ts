import { type Context, Hono } from 'hono';
import { batchOutcomes } from '../../domain/batch-outcomes.ts';
import { everyCountByOutcome } from '../../domain/outcome-counts.ts';
import type { BatchRecord, OutcomeCount } from '../../domain/records/batch-record.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { auditTable } from '../../texts/outcomes/outcome-html.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { type PageAnswers, workflowAddress } from '../http/page-answers.ts';
import { reportFileAnswer, reportFiles, csvAnswer } from '../http/report-downloads.ts';
import { batchPage } from '../pages/batch-page.ts';
import { doneNote } from '../pages/done-note.ts';
import { invoicePage } from '../pages/invoices/invoice-page.ts';
import { invoiceView, WINDOW_SIZE } from '../pages/invoices/invoice-list.ts';
import { listPages, listPart } from '../pages/notes.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { isLive } from '../pages/state-counts.ts';
import { actionsFor, noteAct } from '../people/people.ts';
import type { AuditEntry } from '../../ledger/operations/audit.ts';

const WAITING_STATES: ReadonlySet<string> = new Set(['unsettled', 'unknown', 'held']);

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
    const actions = actionsFor(context, options.actions);
    return pages.show(context, {
      title: details.line.ref,
      content: invoicePage(format, {
        batch,
        details,
        canRetry: actions?.retry !== undefined,
        canReconcile: actions?.reconcile !== undefined,
        done: doneNote(format, context.req.query()),
      }),
    });
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
    const content = auditPage(format, { batch, audit, asked: context.req.query('page') });
    return pages.show(context, { title: format.texts.audit.title, content });
  });

  routes.get('/:id/audit.csv', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return pages.notFound(context);
    await noteAct(context, people, batch.batchId, { what: 'download', why: 'audit.csv' });
    return csvAnswer(context, 'audit', auditRecords(await ledger.auditOf(batch.batchId)));
  });
}

interface AuditPage {
  readonly batch: BatchRecord;
  readonly audit: readonly AuditEntry[];
  readonly asked: string | undefined;
}

function auditPage(format: PageFormat, { batch, audit, asked = NEWEST }: AuditPage): SafeHtml {
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
  const { ledger, links, misfits } = options;
  const actions = actionsFor(context, options.actions);
  const format = pages.formatOf(context);
  const { batchId } = batch;
  const counts = await batchOutcomes(ledger, batchId);
  const view = invoiceView(everyCountByOutcome(counts), {
    show: context.req.query('show'),
    page: context.req.query('page'),
  });
  const reports = await reportFiles(options.reportsDir, batchId);
  const watch = isLive(batch) ? ((await actions?.watch?.(batch.workflowId)) ?? null) : null;
  const content = batchPage(format, {
    batch,
    counts,
    view,
    invoices: await ledger.invoicesWith(batchId, {
      ...{ outcomes: view.states, after: 0 },
      ...{ skip: (view.page - 1) * WINDOW_SIZE, limit: WINDOW_SIZE },
    }),
    fileFindings: await ledger.fileFindings(batchId),
    contradicted: (await ledger.contradictedInvoices([batchId])).get(batchId),
    reports,
    temporalUi: workflowAddress(links, batch.workflowId),
    watch: actions?.operate === undefined ? null : watch,
    // The form of operations itself says what a batch waits for.
    waitingFor: actions?.operate === undefined ? (watch?.waitingFor ?? null) : null,
    now: Date.now(),
    misfits: isLive(batch) || isOpen(counts) ? ((await misfits?.()) ?? []) : [],
    canCheck: actions?.files !== undefined,
    canRetry: actions?.retry !== undefined,
    canReconcile: actions?.reconcile !== undefined,
    total: await ledger.totalCheck(batchId),
    audited: (await ledger.auditOf(batchId)).length,
    done: doneNote(format, context.req.query()),
  });
  // The batch ends a moment before its report is written: a page that stopped reloading then would never show the report.
  return pages.show(context, { title: batch.file, content, live: isLive(batch) || reports.length === 0 });
}

/** Returns true if invoices wait for an answer that a wrong profile may keep from them. */
function isOpen(counts: readonly OutcomeCount[]): boolean {
  return counts.some(({ outcome, invoices }) => invoices > 0 && WAITING_STATES.has(outcome));
}
