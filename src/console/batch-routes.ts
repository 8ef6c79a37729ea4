import { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { batchPage } from './batch-page.ts';
import type { ConsoleOptions, Operation } from './console-options.ts';
import { formOf } from './file-routes.ts';
import { invoicePage } from './invoice-page.ts';
import { invoiceView } from './invoice-view.ts';
import { invoiceWindow } from './invoice-window.ts';
import type { PageAnswers } from './page-answers.ts';
import { reportFileAnswer, reportFiles } from './report-files.ts';
import { stateCounts } from './state-counts.ts';
import { workflowAddress } from './temporal-address.ts';
import { isLive } from './verdict.ts';

const OperationForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pause'), reason: z.string().trim().min(1).max(300) }),
  z.object({ kind: z.literal('cancelRemaining'), reason: z.string().trim().min(1).max(300) }),
  z.object({ kind: z.literal('resume') }),
]);

const KINDS: readonly Operation['kind'][] = ['pause', 'resume', 'cancelRemaining'];

/** One batch, its invoices, its files, and what an operator can do to it while it runs. */
export function batchRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, reportsDir, links, application = 'default', actions } = options;
  const routes = new Hono();

  routes.get('/:id', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    const format = pages.formatOf(context);
    if (batch === null) {
      // Started a moment ago: the worker has not read it yet, or knows its bytes as another batch.
      const sha256 = context.req.query('started');
      if (sha256 === undefined) return pages.notFound(context);
      const known = await ledger.batchOfFile(application, sha256);
      if (known !== null) return context.redirect(`/batches/${encodeURIComponent(known.batchId)}`, 303);
      const content = html`<h1>${context.req.param('id')}</h1>
        <p role="status">${format.texts.waitingForWorker}</p>`;
      return pages.show(context, { title: context.req.param('id'), content, live: true });
    }
    const { batchId } = batch;
    const counts = await ledger.countOutcomes(batchId);
    const view = invoiceView(stateCounts(counts), { show: context.req.query('show'), page: context.req.query('page') });
    const content = batchPage(format, {
      batch,
      counts,
      view,
      invoices: await invoiceWindow(ledger, { batchId, states: view.states, page: view.page }),
      fileFindings: await ledger.fileFindings(batchId),
      reports: await reportFiles(reportsDir, batchId),
      temporalUi: workflowAddress(links, batch.workflowId),
      watch:
        isLive(batch) && actions?.operate !== undefined ? ((await actions.watch?.(batch.workflowId)) ?? null) : null,
      done: KINDS.find((kind) => kind === context.req.query('done')) ?? null,
    });
    return pages.show(context, { title: batch.file, content, live: isLive(batch) });
  });

  routes.get('/:id/invoices/:ordinal{[0-9]{1,9}}', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    const ordinal = Number(context.req.param('ordinal'));
    const dossier = batch === null ? null : await ledger.invoiceDossier(batch.batchId, ordinal);
    if (batch === null || dossier === null) return pages.notFound(context);
    return pages.show(context, {
      title: dossier.line.ref,
      content: invoicePage(pages.formatOf(context), { batch, dossier }),
    });
  });

  routes.get('/:id/files/:name', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    const answer = batch === null ? null : await reportFileAnswer(reportsDir, batch.batchId, context.req.param('name'));
    return answer ?? pages.notFound(context);
  });

  routes.post('/:id/operations', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null || actions?.operate === undefined) return pages.notFound(context);
    const page = `/batches/${encodeURIComponent(batch.batchId)}`;
    const operation = OperationForm.safeParse(await formOf(context));
    // The form says what it needs; who goes around it is back on the page, and nothing has happened.
    if (!operation.success) return context.redirect(page, 303);
    await actions.operate(batch.workflowId, operation.data);
    return context.redirect(`${page}?done=${operation.data.kind}`, 303);
  });

  return routes;
}
