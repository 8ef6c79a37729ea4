import { Hono } from 'hono';
import { html } from 'hono/html';
import type { ConsoleOptions } from '../console-options.ts';
import { figuresPage } from '../figures/figures-page.ts';
import { firstNight, nightFigures } from '../figures/night-figures.ts';
import { applicationFilter, applicationFilterForm } from '../forms/application-filter.ts';
import type { PageAnswers } from '../http/page-answers.ts';

/** Twenty files a night for ninety nights; each is one small row. */
const MOST_BATCHES = 2_000;

/** The last nights in pictures. */
export function figuresRoutes(options: Pick<ConsoleOptions, 'ledger' | 'applications'>, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/figures', async (context) => {
    const format = pages.formatOf(context);
    const now = Date.now();
    const batches = await options.ledger.batchFigures(firstNight(now), MOST_BATCHES + 1);
    const filter = applicationFilter(options, context.req.query('application'));
    const chosen = filter?.chosen ?? null;
    const shown = batches.slice(0, MOST_BATCHES).filter(({ application }) => chosen === null || application === chosen);
    const figures = figuresPage(format, {
      nights: nightFigures(shown, now, format.timeZone),
      without: shown.filter(({ figures }) => figures === null).length,
      isCut: batches.length > MOST_BATCHES,
    });
    const content = html`${filter === null ? '' : applicationFilterForm(format, filter, '/figures')} ${figures}`;
    return pages.show(context, { title: format.texts.figures.title, content });
  });

  return routes;
}
