import { Hono } from 'hono';
import type { Context } from 'hono';
import { z } from 'zod';
import { RETRY_STATES } from '../../domain/retry-decision.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { doneQuery } from '../pages/done-note.ts';
import { formOf } from './file-routes.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { LONGEST_REASON } from '../forms/forms.ts';
import { actorOf, noteAct } from '../people/people.ts';

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
  // The browser sends one checkbox as a text, several as a list.
  states: z.union([state.transform((one) => [one]), z.array(state).min(1)]),
  reason,
});
const RetryInvoiceForm = z.object({ reason, acceptDuplicateRisk: z.literal('yes').optional() });

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
    return done(context, target.page, operation.data);
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
      return done(context, page, { kind: 'retry', ...answer });
    });

    // Lote asks the service for everything that any batch left open; the audit of this batch records who asked.
    routes.post(`${path}/reconcile`, async (context) => {
      const target = await targetOf(context, ledger);
      if (target === null || actions === undefined) return pages.notFound(context);
      await noteAct(context, people, target.batchId, { what: 'reconcile', why: EVERYTHING_OPEN });
      return done(context, target.page, { kind: 'reconcile', ...(await actions.reconcile()) });
    });
  }

  return routes;
}

function done(context: Context, page: string, what: Parameters<typeof doneQuery>[0]): Response {
  return context.redirect(`${page}?${doneQuery(what)}`, 303);
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
  const page = `/batches/${encodeURIComponent(batchId)}`;
  if (ordinal === undefined) return { batchId, workflowId, rows: null, page };
  const details = await ledger.invoiceDetails(batchId, Number(ordinal));
  if (details === null) return null;
  return { batchId, workflowId, rows: details.line.rows.slice(0, 1), page: `${page}/invoices/${ordinal}` };
}
