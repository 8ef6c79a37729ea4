import { Hono } from 'hono';
import type { Context } from 'hono';
import { z } from 'zod';
import { RETRY_STATES } from '../../domain/retry-decision.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { doneQuery } from '../pages/done-note.ts';
import { formOf } from './file-routes.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { LONGEST_REASON } from '../forms/reason-field.ts';
import { actorOf } from '../people/caller.ts';
import { noteAct } from '../people/people.ts';

/** Of an action that asks for no reason. */
const EVERYTHING_OPEN = 'the service was asked for everything that any batch left open';

const reason = z.string().trim().min(1).max(LONGEST_REASON);

const OperationForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pause'), reason }),
  z.object({ kind: z.literal('cancelRemaining'), reason }),
  z.object({
    kind: z.literal('confirmTotal'),
    invoices: z
      .string()
      .trim()
      .regex(/^\d{1,9}$/)
      .transform(Number),
    reason,
  }),
  z.object({ kind: z.literal('resume') }),
  z.object({ kind: z.literal('settleNow') }),
]);

const state = z.enum(RETRY_STATES);
const RetryBatchForm = z.object({
  // One checkbox comes as a text, several as a list.
  states: z.union([state.transform((one) => [one]), z.array(state).min(1)]),
  reason,
});
const RetryInvoiceForm = z.object({ reason, acceptDuplicateRisk: z.literal('yes').optional() });

/**
 * What an operator can do to a batch or one invoice of it. Each form says what it needs; who goes around it is back on the page,
 * and nothing has happened.
 */
export function operateRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, actions } = options;
  const routes = new Hono();
  routes.post('/:id/operations', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null || actions?.operate === undefined) return pages.notFound(context);
    const page = pageOf(batch);
    const operation = OperationForm.safeParse(await formOf(context));
    if (!operation.success) return context.redirect(page, 303);
    await actions.operate(batch.workflowId, operation.data, actorOf(context));
    return done(context, page, operation.data);
  });

  routes.post('/:id/retry', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null || actions?.retry === undefined) return pages.notFound(context);
    const page = pageOf(batch);
    const form = RetryBatchForm.safeParse(await formOf(context));
    if (!form.success) return context.redirect(page, 303);
    const answer = await actions.retry({
      ...{ batchId: batch.batchId, ...form.data },
      ...{ acceptDuplicateRisk: false, by: actorOf(context) },
    });
    return done(context, page, { kind: 'retry', ...answer });
  });

  routes.post('/:id/invoices/:ordinal{[0-9]{1,9}}/retry', async (context) => {
    const found = await lineOf(context, ledger);
    if (found === null || actions?.retry === undefined) return pages.notFound(context);
    const { page, batchId, rows } = found;
    const form = RetryInvoiceForm.safeParse(await formOf(context));
    if (!form.success) return context.redirect(page, 303);
    const { acceptDuplicateRisk } = form.data;
    const answer = await actions.retry({
      ...{ batchId, rows, reason: form.data.reason },
      acceptDuplicateRisk: acceptDuplicateRisk === 'yes',
      by: actorOf(context),
    });
    return done(context, page, { kind: 'retry', ...answer });
  });

  reconcileRoutes(routes, options, pages);
  return routes;
}

/** The service is asked for everything that any batch left open; the audit of the batch has who asked. */
function reconcileRoutes(routes: Hono, { ledger, actions, people }: ConsoleOptions, pages: PageAnswers): void {
  routes.post('/:id/reconcile', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null || actions?.reconcile === undefined) return pages.notFound(context);
    await noteAct(context, people, batch.batchId, { what: 'reconcile', why: EVERYTHING_OPEN });
    return done(context, pageOf(batch), { kind: 'reconcile', ...(await actions.reconcile()) });
  });

  routes.post('/:id/invoices/:ordinal{[0-9]{1,9}}/reconcile', async (context) => {
    const found = await lineOf(context, ledger);
    if (found === null || actions?.reconcile === undefined) return pages.notFound(context);
    await noteAct(context, people, found.batchId, { what: 'reconcile', why: EVERYTHING_OPEN });
    return done(context, found.page, { kind: 'reconcile', ...(await actions.reconcile()) });
  });
}

function done(context: Context, page: string, what: Parameters<typeof doneQuery>[0]): Response {
  return context.redirect(`${page}?${doneQuery(what)}`, 303);
}

/** The invoice of an address; a row names it to the workflow, for history keeps no reference. */
async function lineOf(context: Context, ledger: ConsoleOptions['ledger']) {
  const batchId = context.req.param('id') ?? '';
  const ordinal = Number(context.req.param('ordinal'));
  const details = await ledger.invoiceDetails(batchId, ordinal);
  return details === null
    ? null
    : { batchId, rows: details.line.rows.slice(0, 1), page: `${pageOf({ batchId })}/invoices/${ordinal}` };
}

function pageOf({ batchId }: { readonly batchId: string }): string {
  return `/batches/${encodeURIComponent(batchId)}`;
}
