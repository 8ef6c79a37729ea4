import { Hono } from 'hono';
import type { Context } from 'hono';
import type { InvoiceSearchResult } from '../../domain/ports/invoice-search.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { TABLE_KINDS, tableAnswer } from '../http/file-answers.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { foundTable } from '../search/invoice-table.ts';
import { searchPage } from '../search/search-page.ts';
import { readSearchQuery, type SearchQuery } from '../search/search-query.ts';

/** Results on one page; a reference or an id has a handful. */
const MOST_FOUND = 100;
/** Invoices that one request looks at one by one: under a second on both databases; the page offers to go on. */
const MOST_LOOKED_AT = 100_000;

/** The search over the invoices of all batches, and its results as files. */
export function searchRoutes({ ledger }: Pick<ConsoleOptions, 'ledger'>, pages: PageAnswers): Hono {
  const routes = new Hono();
  const queryOf = (context: Context): SearchQuery =>
    readSearchQuery((name) => context.req.query(name), pages.formatOf(context).timeZone);

  async function resultOf({ search, after }: SearchQuery): Promise<InvoiceSearchResult | null> {
    if (search === null) return null;
    const bounds = { results: MOST_FOUND, lookedAt: MOST_LOOKED_AT };
    return ledger.searchInvoices(search, after === null ? bounds : { ...bounds, after });
  }

  routes.get('/search', async (context) => {
    const format = pages.formatOf(context);
    const query = queryOf(context);
    const content = searchPage(format, query, await resultOf(query));
    return pages.show(context, { title: format.texts.search.title, content });
  });

  for (const kind of TABLE_KINDS)
    routes.get(`/search.${kind}`, async (context) => {
      const result = await resultOf(queryOf(context));
      return result === null
        ? pages.notFound(context)
        : tableAnswer(context, foundTable(result.found), { name: 'invoices', kind });
    });

  return routes;
}
