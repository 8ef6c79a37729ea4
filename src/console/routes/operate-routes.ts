import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { RETRY_STATES } from '../../domain/retry-decision.ts';
import { fill } from '../../texts/fill.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { wordOf } from '../../texts/outcomes/outcome-html.ts';
import { type ConsoleOptions, OperationForm, ReasonText, type ReconcileAnswer } from '../console-options.ts';
import { formOf } from './file-routes.ts';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import { batchAddress } from '../pages/page-parts.ts';
import { actorOf, noteAct } from '../http/people.ts';

const EVERYTHING_OPEN = 'the service was asked for everything that any batch left open';

const state = z.enum(RETRY_STATES);
const RetryBatchForm = z.object({
  // The browser sends one checkbox as a text, several as a list.
  states: z.union([state.transform((one) => [one]), z.array(state).min(1)]),
  reason: ReasonText,
});
const RetryInvoiceForm = z.object({ reason: ReasonText, acceptDuplicateRisk: z.literal('yes').optional() });

const TARGETS = ['/:id', '/:id/invoices/:ordinal{[0-9]{1,9}}'] as const;

/** Serves an operator's actions on a batch or an invoice. An incomplete form leads back to the page without any effect. */
export function operateRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, actions, people } = options;
  const routes = new Hono();

  routes.post('/:id/operations', async (context) => {
    const target = await targetOf(context, ledger);
    if (target === null || actions === undefined) return pages.notFound(context);
    const operation = OperationForm.safeParse(await formOf(context));
    if (!operation.success) return context.redirect(target.page, 303);
    await actions.operate(target.workflowId, operation.data, actorOf(context));
    return goBack(context, target.page, { done: operation.data.kind });
  });

  for (const path of TARGETS) {
    routes.post(`${path}/retry`, async (context) => {
      const target = await targetOf(context, ledger);
      if (target === null || actions === undefined) return pages.notFound(context);
      const { batchId, rows, page } = target;
      const fields = await formOf(context);
      const form = rows === null ? RetryBatchForm.safeParse(fields) : RetryInvoiceForm.safeParse(fields);
      if (!form.success) return context.redirect(page, 303);
      const answer = await actions.retry({
        ...{ batchId, ...(rows !== null && { rows }), ...form.data },
        acceptDuplicateRisk: 'acceptDuplicateRisk' in form.data && form.data.acceptDuplicateRisk === 'yes',
        by: actorOf(context),
      });
      const ended = answer.how === 'ended' ? { moved: answer.moved, ...answer.refused } : {};
      return goBack(context, page, { done: 'retry', how: answer.how, ...ended });
    });

    // Lote asks the service for everything that any batch left open; the audit of this batch records who asked.
    routes.post(`${path}/reconcile`, async (context) => {
      const target = await targetOf(context, ledger);
      if (target === null || actions === undefined) return pages.notFound(context);
      await noteAct(context, people, [target.batchId], { what: 'reconcile', why: EVERYTHING_OPEN });
      return goBack(context, target.page, { done: 'reconcile', ...reconcileFields(await actions.reconcile()) });
    });
  }

  return routes;
}

/** Redirects back to a page, with the fields that `doneNote` reads. */
function goBack(context: Context, page: string, fields: Readonly<Record<string, string | number>>): Response {
  const query = Object.entries(fields).map(([name, value]) => [name, String(value)] as [string, string]);
  return context.redirect(`${page}?${new URLSearchParams(query).toString()}`, 303);
}

function reconcileFields(answer: ReconcileAnswer): Readonly<Record<string, string | number>> {
  if (answer.how === 'started') return { how: 'started' };
  const { asked, settled, serviceAway } = answer;
  return { how: 'ended', asked, settled, ...(serviceAway && { rest: 'waits' }) };
}

interface Target {
  readonly batchId: string;
  readonly workflowId: string;
  /** Null means the whole batch. A row names an invoice to the workflow, because history must keep no reference. */
  readonly rows: readonly number[] | null;
  readonly page: string;
}

async function targetOf(context: Context, ledger: ConsoleOptions['ledger']): Promise<Target | null> {
  const batch = await ledger.findBatch(context.req.param('id') ?? '');
  const ordinal = context.req.param('ordinal');
  if (batch === null) return null;
  const { batchId, workflowId } = batch;
  const page = batchAddress(batchId);
  if (ordinal === undefined) return { batchId, workflowId, rows: null, page };
  const details = await ledger.invoiceDetails(batchId, Number(ordinal));
  if (details === null) return null;
  return { batchId, workflowId, rows: details.line.rows.slice(0, 1), page: `${page}/invoices/${ordinal}` };
}

type Query = Readonly<Record<string, string>>;

/** Renders the result of an operation once, above the page to which it leads back. Shows only numbers and known words from the address. */
export function doneNote(format: PageFormat, query: Query): SafeHtml {
  const lines = linesOf(format, query);
  if (lines.length === 0) return html``;
  return html`<div class="done" role="status">${lines.map((line) => html`<p>${line}</p>`)}</div>`;
}

function linesOf(format: PageFormat, query: Query): readonly string[] {
  const { done = '' } = query;
  if (done === 'retry') return retryLines(format, query);
  if (done === 'reconcile') return reconcileLines(format, query);
  const words = wordOf(format.texts.operations.done, done, '');
  return words === '' ? [] : [words];
}

function numberOf(query: Query, name: string): number {
  return /^\d{1,9}$/u.test(query[name] ?? '') ? Number(query[name]) : 0;
}

function retryLines({ texts: { retry }, plural }: PageFormat, query: Query): readonly string[] {
  if (query['how'] === 'started' || query['how'] === 'joined') return [retry[query['how']]];
  const left = Object.entries(retry.refusals).flatMap(([refusal, words]) => {
    const invoices = numberOf(query, refusal);
    return invoices === 0 ? [] : [`${plural(retry.left, invoices)} ${words}.`];
  });
  return [plural(retry.moved, numberOf(query, 'moved')), ...left];
}

function reconcileLines({ texts: { reconcile }, count }: PageFormat, query: Query): readonly string[] {
  if (query['how'] === 'started') return [reconcile.started];
  const [asked, settled] = [count(numberOf(query, 'asked')), count(numberOf(query, 'settled'))];
  return [fill(reconcile.asked, { asked, settled }), ...(query['rest'] === 'waits' ? [reconcile.restWaits] : [])];
}
