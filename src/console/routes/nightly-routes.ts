import { Hono } from 'hono';
import { html } from 'hono/html';
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
    const date = context.req.param('date');
    const summary = await readNightlySummary(reportsDir, date);
    if (summary === 'missing') return pages.notFound(context);
    const format = pages.formatOf(context);
    if (summary === 'unreadable') {
      const { title, unreadable } = format.texts.nights;
      return pages.show(context, { title, content: html`<p>${unreadable}</p>` });
    }
    return pages.show(context, { title: format.date(summary.date), content: nightlyDatePage(format, summary) });
  });

  return routes;
}
