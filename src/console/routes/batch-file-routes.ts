import { type Context, Hono } from 'hono';
import { LoteError } from '../../domain/errors.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { batchOutcomes } from '../../domain/batch-outcomes.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { TABLE_KINDS, tableAnswer, type TableKind } from '../http/file-answers.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { reportFileAnswer, reportFiles, reportsDirOf } from '../http/report-downloads.ts';
import { auditCsv } from '../pages/audit-page.ts';
import { invoiceView } from '../pages/invoices/invoice-view.ts';
import { invoiceWindow, MOST_SAVED } from '../pages/invoices/invoice-window.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { stateCounts } from '../pages/state-counts.ts';
import { noteAct } from '../people/people.ts';
import { invoiceTable } from '../search/invoice-table.ts';

/** Files of a batch that are saved: each is written into its audit before its first byte. */
export function batchFileRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger } = options;
  const routes = new Hono();
  const note = (context: Context, { batchId }: BatchRecord, why: string): Promise<void> =>
    noteAct(context, options.people, batchId, { what: 'download', why });

  for (const kind of TABLE_KINDS)
    routes.get(`/:id/invoices.${kind}`, async (context) => {
      const batch = await ledger.findBatch(context.req.param('id') ?? '');
      if (batch === null) return pages.notFound(context);
      await note(context, batch, `invoices.${kind}`);
      return saveView(context, batch, { ledger, kind, format: pages.formatOf(context) });
    });

  routes.get('/:id/files/:name', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    const name = context.req.param('name');
    if (batch === null) return pages.notFound(context);
    const reportsDir = reportsDirOf(options, batch);
    if (!(await reportFiles(reportsDir, batch.batchId)).includes(name)) return pages.notFound(context);
    await note(context, batch, name);
    return (await reportFileAnswer(reportsDir, batch.batchId, name)) ?? pages.notFound(context);
  });

  routes.get('/:id/audit.csv', async (context) => {
    const batch = await ledger.findBatch(context.req.param('id'));
    if (batch === null) return pages.notFound(context);
    await note(context, batch, 'audit.csv');
    return context.body(auditCsv(await ledger.auditOf(batch.batchId)), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="audit.csv"',
    });
  });

  return routes;
}

/** The invoices of the view that a page shows, on all its pages. */
async function saveView(
  context: Context,
  { batchId }: BatchRecord,
  { ledger, kind, format }: Pick<ConsoleOptions, 'ledger'> & { readonly kind: TableKind; readonly format: PageFormat },
): Promise<Response> {
  const counts = stateCounts(await batchOutcomes(ledger, batchId));
  const { states } = invoiceView(counts, { show: context.req.query('show'), page: undefined });
  const invoices = await invoiceWindow(ledger, { batchId, states, page: 1, size: MOST_SAVED + 1 });
  // A part would look like the whole.
  if (invoices.length > MOST_SAVED)
    throw new LoteError(
      'usage',
      `Saving the invoices of a view: it must have at most ${MOST_SAVED}, found more. The report of the batch has all of them.`,
    );
  return tableAnswer(context, invoiceTable(invoices), { name: 'invoices', kind, format });
}
