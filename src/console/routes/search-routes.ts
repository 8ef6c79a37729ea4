import { Hono } from 'hono';
import type { Context } from 'hono';
import type { ConsoleOptions } from '../console-options.ts';
import { TABLE_KINDS, tableAnswer } from '../http/file-answers.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { answerSearch } from '../search/answer-search.ts';
import { noteFound } from '../search/note-found.ts';
import { foundTable } from '../search/invoice-table.ts';
import { searchPage } from '../search/search-page.ts';
import { readSearchQuery, type SearchQuery } from '../search/search-query.ts';

/** The search over the invoices of all batches, and its results as files. */
export function searchRoutes(
  { ledger, people, applications }: Pick<ConsoleOptions, 'ledger' | 'people' | 'applications'>,
  pages: PageAnswers,
): Hono {
  const routes = new Hono();
  const several = applications !== undefined;
  const queryOf = (context: Context): SearchQuery =>
    readSearchQuery((name) => context.req.query(name), pages.formatOf(context).timeZone);

  routes.get('/search', async (context) => {
    const format = pages.formatOf(context);
    const query = queryOf(context);
    const content = searchPage(format, { query, result: await answerSearch(ledger, query), several });
    return pages.show(context, { title: format.texts.search.title, content });
  });

  for (const kind of TABLE_KINDS)
    routes.get(`/search.${kind}`, async (context) => {
      const result = await answerSearch(ledger, queryOf(context));
      if (result === null) return pages.notFound(context);
      await noteFound(context, people, result, `search.${kind}`);
      return tableAnswer(context, foundTable(result.found, several), {
        ...{ name: 'invoices', kind },
        format: pages.formatOf(context),
      });
    });

  return routes;
}
