import { Hono } from 'hono';
import type { ConsoleOptions } from '../console-options.ts';
import { listNightlySummaries, NIGHTLY_DATE, readNightlySummary } from '../nightly-files.ts';
import { nightlyDatePage, nightlyRunsPage } from '../pages/nightly-runs-page.ts';
import type { PageAnswers } from '../http/page-answers.ts';

/** What the nights took, from the summaries that they wrote. */
export function nightlyRoutes({ reportsDir }: ConsoleOptions, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const content = nightlyRunsPage(format, await listNightlySummaries(reportsDir));
    return pages.show(context, { title: format.texts.nights.title, content });
  });

  routes.get(`/:date{${NIGHTLY_DATE}}`, async (context) => {
    const summary = await readNightlySummary(reportsDir, context.req.param('date'));
    if (summary === null) return pages.notFound(context);
    const format = pages.formatOf(context);
    return pages.show(context, { title: format.date(summary.date), content: nightlyDatePage(format, summary) });
  });

  return routes;
}
