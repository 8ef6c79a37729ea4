import { Hono } from 'hono';
import { html } from 'hono/html';
import type { ConsoleOptions } from '../console-options.ts';
import { listNightlySummaries, NIGHTLY_DATE, readNightlySummary } from '../nightly-files.ts';
import { applicationFilter, applicationFilterForm, type ApplicationFilter } from '../forms/application-filter.ts';
import { reportsDirOf } from '../http/report-downloads.ts';
import { listPages } from '../pages/list-part.ts';
import { nightlyDatePage, nightlyRunsPage } from '../pages/nightly-runs-page.ts';
import type { PageAnswers } from '../http/page-answers.ts';

const NO_NIGHTS = { nights: [], part: { page: 1, pages: 1 } };

/** What the nights took, from the summaries that they wrote. */
export function nightlyRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const filter = applicationFilter(options, context.req.query('application'));
    const folder = nightsOf(options, filter);
    const application = filter?.chosen ?? null;
    const { nights, part } =
      folder === null ? NO_NIGHTS : await listNightlySummaries(folder, context.req.query('page'));
    const content = html`${filter === null ? '' : applicationFilterForm(format, filter, '/nights')}
    ${nightlyRunsPage(format, nights, filter)}
    ${listPages(format, part, (page) => `/nights?${new URLSearchParams({ ...(application === null ? {} : { application }), page: String(page) }).toString()}`)}`;
    return pages.show(context, { title: format.texts.nights.title, content });
  });

  routes.get(`/:date{${NIGHTLY_DATE}}`, async (context) => {
    const date = context.req.param('date');
    const folder = nightsOf(options, applicationFilter(options, context.req.query('application')));
    const summary = folder === null ? 'missing' : await readNightlySummary(folder, date);
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

/** Null: there are several applications, each with nights of its own, and none is chosen. */
function nightsOf(options: ConsoleOptions, filter: ApplicationFilter | null): string | null {
  if (filter === null) return options.reportsDir;
  return filter.chosen === null ? null : reportsDirOf(options, { application: filter.chosen });
}
