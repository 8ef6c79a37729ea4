import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { batchOutcomes } from '../../domain/batch-outcomes.ts';
import { auditPage } from '../pages/audit-page.ts';
import { batchPage } from '../pages/batch-page.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { doneNote } from '../pages/done-note.ts';
import { invoicePage } from '../pages/invoices/invoice-page.ts';
import { invoiceView } from '../pages/invoices/invoice-view.ts';
import { invoiceWindow } from '../pages/invoices/invoice-window.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { actionsFor } from '../people/allowed-actions.ts';
import { reportFiles, reportsDirOf } from '../http/report-downloads.ts';
import { howFar } from '../pace/pace.ts';
import type { PacePicture } from '../pace/pace-picture.ts';
import { createPaceSamples, type PaceSamples } from '../pace/pace-samples.ts';
import { type StateCounts, stateCounts } from '../pages/state-counts.ts';
import { workflowAddress } from '../temporal-address.ts';
import { isLive } from '../pages/verdict.ts';
import type { BatchRecord, OutcomeCount } from '../../domain/ports/ledger/batch-record.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';

const WAITING_STATES: ReadonlySet<string> = new Set(['unsettled', 'unknown', 'held']);

/** One batch, its invoices, its files, and what was done to it by hand. */
export function batchRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger } = options;
  const routes = new Hono();
  const samples = createPaceSamples();

  routes.get('/:id', async (context) => {
    const id = context.req.param('id');
    const batch = await ledger.findBatch(id);
    return batch === null
      ? showUnknownBatch(context, id, options, pages)
      : showBatch(context, batch, options, { pages, samples });
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

  routes.get('/:id/audit', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return pages.notFound(context);
    const format = pages.formatOf(context);
    const audit = await ledger.auditOf(batch.batchId);
    const content = auditPage(format, { batch, audit, page: context.req.query('page') });
    return pages.show(context, { title: format.texts.audit.title, content });
  });

  return routes;
}

/** A batch that was started a moment ago: the worker has not read it yet, or knows its bytes as another batch. */
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
  { pages, samples }: { readonly pages: PageAnswers; readonly samples: PaceSamples },
): Promise<Response> {
  const { ledger, links, misfits } = options;
  const actions = actionsFor(context, options.actions);
  const format = pages.formatOf(context);
  const { batchId } = batch;
  const counts = await batchOutcomes(ledger, batchId);
  const view = invoiceView(stateCounts(counts), { show: context.req.query('show'), page: context.req.query('page') });
  const reports = await reportFiles(reportsDirOf(options, batch), batchId);
  const watch = isLive(batch) ? ((await actions?.watch?.(batch.workflowId)) ?? null) : null;
  const content = batchPage(format, {
    batch,
    counts,
    view,
    invoices: await invoiceWindow(ledger, { batchId, states: view.states, page: view.page }),
    fileFindings: await ledger.fileFindings(batchId),
    contradicted: (await ledger.contradictedInvoices([batchId])).get(batchId),
    reports,
    temporalUi: workflowAddress(links, batch.workflowId),
    watch: actions?.operate === undefined ? null : watch,
    // The form of operations says itself what a batch waits for.
    pace: paceNow(batch, stateCounts(counts), {
      samples,
      waitingFor: actions?.operate === undefined ? (watch?.waitingFor ?? null) : null,
    }),
    stuck: isLive(batch) ? ((await actions?.stuck?.(batch.workflowId)) ?? null) : null,
    misfits: isLive(batch) || isOpen(counts) ? ofApplication((await misfits?.()) ?? [], batch.application) : [],
    canCheck: actions?.files !== undefined,
    canRetry: actions?.retry !== undefined,
    canReconcile: actions?.reconcile !== undefined,
    total: await ledger.totalCheck(batchId),
    audited: (await ledger.auditOf(batchId)).length,
    application: options.applications === undefined ? null : batch.application,
    done: doneNote(format, context.req.query()),
  });
  // The batch ends a moment before its report is written: a page that stopped there would never show it.
  return pages.show(context, { title: batch.file, content, live: isLive(batch) || reports.length === 0 });
}

/** Only while it sends or settles: a batch at rest has a report, and a file that is being read has no pace. */
function paceNow(
  batch: BatchRecord,
  counts: StateCounts,
  { samples, waitingFor }: { readonly samples: PaceSamples; readonly waitingFor: string | null },
): PacePicture | null {
  if (!isLive(batch) || batch.state === 'staging') return null;
  const { sent, settled, all, left } = howFar(counts);
  return { line: samples.note(batch, { at: Date.now(), sent, settled }), all, left, waitingFor };
}

/** Invoices wait for a word that a profile which does not fit may keep from them. */
function isOpen(counts: readonly OutcomeCount[]): boolean {
  return counts.some(({ outcome, invoices }) => invoices > 0 && WAITING_STATES.has(outcome));
}

/** Of several applications, the findings of one; else all. */
function ofApplication(misfits: readonly ProfileMisfit[], name: string): readonly ProfileMisfit[] {
  return misfits.filter(({ application = name }) => application === name);
}
