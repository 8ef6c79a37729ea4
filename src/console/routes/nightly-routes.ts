import { Hono } from 'hono';
import type { ConsoleOptions } from '../console-options.ts';
import { listNights, NIGHT_DATE, readNight } from '../nightly-files.ts';
import { nightPage, nightsPage } from '../pages/nightly-runs-page.ts';
import type { PageAnswers } from '../http/page-answers.ts';

/** What the nights took, from the summaries that they wrote. */
export function nightRoutes({ reportsDir }: ConsoleOptions, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const content = nightsPage(format, await listNights(reportsDir));
    return pages.show(context, { title: format.texts.nights.title, content });
  });

  routes.get(`/:date{${NIGHT_DATE}}`, async (context) => {
    const summary = await readNight(reportsDir, context.req.param('date'));
    if (summary === null) return pages.notFound(context);
    const format = pages.formatOf(context);
    return pages.show(context, { title: format.date(summary.date), content: nightPage(format, summary) });
  });

  return routes;
}
