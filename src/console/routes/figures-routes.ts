import { Hono } from 'hono';
import { fill } from '../../texts/fill.ts';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { commonReasons, firstNight, nightFigures, type MoneyPart, type NightFigures } from '../night-figures.ts';
import { STATE_ORDER, stateBar, stateMark } from '../../texts/outcomes/outcome-html.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import type { PageFormat } from '../pages/page-format.ts';

/** Twenty files a night for ninety nights; each is one small row. */
const MOST_BATCHES = 2_000;

/** The last nights in figures. */
export function figuresRoutes(options: Pick<ConsoleOptions, 'ledger'>, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/figures', async (context) => {
    const format = pages.formatOf(context);
    const now = Date.now();
    const batches = await options.ledger.batchFigures(firstNight(now), MOST_BATCHES + 1);
    const shown = batches.slice(0, MOST_BATCHES);
    const content = figuresPage(format, {
      nights: nightFigures(shown, now, format.timeZone),
      without: shown.filter(({ figures }) => figures === null).length,
      isCut: batches.length > MOST_BATCHES,
    });
    return pages.show(context, { title: format.texts.figures.title, content });
  });

  return routes;
}

interface FiguresPage {
  /** Oldest first. */
  readonly nights: readonly NightFigures[];
  /** Batches of these nights whose report has no figures, or that have none yet. */
  readonly without: number;
  /** More batches were read than are looked at: the oldest nights are not whole. */
  readonly isCut: boolean;
}

/** The last nights, newest first, and why invoices were not issued. */
function figuresPage(format: PageFormat, { nights, without, isCut }: FiguresPage): SafeHtml {
  const { texts, plural, count } = format;
  const { figures } = texts;
  const some = nights.some(({ batches }) => batches > 0);
  return html`<h1>${figures.title}</h1>
    <p>${fill(figures.note, { n: count(nights.length) })}</p>
    ${without === 0 ? '' : html`<p class="soft">${plural(figures.without, without)}</p>`}
    ${isCut ? html`<p role="alert">${figures.cut}</p>` : ''}
    ${some ? html`${nightTable(format, nights)} ${reasonTable(format, nights)}` : html`<p role="status">${figures.none}</p>`}`;
}

/** What is known of each night, newest first; nights in which nothing was read are left out. */
function nightTable(format: PageFormat, nights: readonly NightFigures[]): SafeHtml {
  const { texts, count, money } = format;
  const { figures } = texts;
  const duration = (ms: number | null) => (ms === null ? '' : format.duration(ms));
  const heads = [texts.heads.invoices, texts.heads.net, figures.median, figures.most];
  const rows = nights
    .filter(({ batches }) => batches > 0)
    .toReversed()
    .map((night) => {
      const sums = [...night.money].map(
        ([currency, parts]) => html`<div>${shownParts(parts).map(money).join(' + ')} ${currency}</div>`,
      );
      const states = STATE_ORDER.filter((state) => night.counts[state] > 0).map(
        (state) => html`<div>${stateMark(state)} ${count(night.counts[state])}</div>`,
      );
      const cells = [states, sums, duration(night.median), duration(night.most)];
      return html`<tr><th scope="row" class="time">${night.date}${stateBar(night.counts)}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
    });
  return table(figures.title, [texts.nights.night, ...heads.map((number) => ({ number }))], rows, { kind: 'numbers' });
}

/** Most nights have nothing that another file issued. */
function shownParts({ out, left, before }: Readonly<Record<MoneyPart, string>>): readonly string[] {
  return before === '0' ? [out, left] : [out, left, before];
}

/** Why invoices are not confirmed as issued; nothing where all are. */
function reasonTable({ texts, count }: PageFormat, nights: readonly NightFigures[]): SafeHtml {
  const { figures, heads } = texts;
  const rows = commonReasons(nights).map(
    ([code, invoices]) =>
      html`<tr>
        <th scope="row"><code>${code}</code></th>
        <td class="number">${count(invoices)}</td>
      </tr>`,
  );
  if (rows.length === 0) return html``;
  return html`<h2>${figures.reasons}</h2>
    ${table(figures.reasons, [heads.reason, { number: heads.invoices }], rows)}`;
}
