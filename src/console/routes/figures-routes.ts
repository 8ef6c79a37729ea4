import { Hono } from 'hono';
import { fill } from '../../texts/fill.ts';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { STATE_ORDER, stateBar, stateMark } from '../../texts/outcomes/outcome-html.ts';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import { durationQuantile, mergedHistograms } from '../../domain/time/duration-histogram.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { sumDecimals } from '../../domain/money.ts';
import { everyCountByOutcome } from '../../domain/outcome-counts.ts';
import { DAY_MS } from '../../domain/time/instants.ts';
import { dayOf } from '../../domain/time/zone-offsets.ts';
import type { BatchFigures, BatchInFigures } from '../../ledger/operations/report-marks.ts';

/** Enough for twenty files a night for ninety nights; each is one small row. */
const MOST_BATCHES = 2_000;

/** Serves the figures of the last nights. */
export function figuresRoutes(options: Pick<ConsoleOptions, 'ledger'>, pages: PageAnswers): Hono {
  const figures = pages.page(async (_, format) => {
    const now = Date.now();
    // Reads a day more, so that the range is complete in every zone.
    const batches = await options.ledger.batchFigures(now - (NIGHTS + 1) * DAY_MS, MOST_BATCHES + 1);
    const shown = batches.slice(0, MOST_BATCHES);
    const nights = nightFigures(shown, now, format.timeZone);
    const without = shown.filter(({ figures }) => figures === null).length;
    const { texts, plural, count } = format;
    const { figures: words } = texts;
    const content = html`<h1>${words.title}</h1>
      <p>${fill(words.note, { n: count(NIGHTS) })}</p>
      ${without === 0 ? '' : html`<p class="soft">${plural(words.without, without)}</p>`}
      ${batches.length > MOST_BATCHES ? html`<p role="alert">${words.cut}</p>` : ''}
      ${nights.length === 0 ? html`<p role="status">${words.none}</p>` : html`${nightTable(format, nights)} ${reasonTable(format, nights)}`}`;
    return { title: words.title, content };
  });
  return new Hono().get('/figures', figures);
}

function nightTable(format: PageFormat, nights: readonly NightFigures[]): SafeHtml {
  const { texts, count, money } = format;
  const { figures } = texts;
  const duration = (ms: number | null) => (ms === null ? '' : format.duration(ms));
  const heads = [texts.heads.invoices, texts.heads.net, figures.median, figures.most];
  const rows = nights.map((night) => {
    const sums = [...night.money].map(
      ([currency, { out, net }]) => html`<div>${money(out)} / ${money(net)} ${currency}</div>`,
    );
    const states = STATE_ORDER.filter((state) => night.counts[state] > 0).map(
      (state) => html`<div>${stateMark(state)} ${count(night.counts[state])}</div>`,
    );
    return [html`${night.date}${stateBar(night.counts)}`, states, sums, duration(night.median), duration(night.most)];
  });
  return table(figures.title, [{ row: texts.nights.night }, ...heads.map((number) => ({ number }))], rows);
}

function reasonTable({ texts, count }: PageFormat, nights: readonly NightFigures[]): SafeHtml {
  const { figures, heads } = texts;
  const rows = commonReasons(nights).map(([code, invoices]) => [html`<code>${code}</code>`, count(invoices)]);
  if (rows.length === 0) return html``;
  return html`<h2>${figures.reasons}</h2>
    ${table(figures.reasons, [{ row: heads.reason }, { number: heads.invoices }], rows)}`;
}

const NIGHTS = 90;

interface NightFigures {
  readonly date: string;
  readonly counts: Readonly<Record<Outcome, number>>;
  /** By currency: what this batch issued, of what its files hold. */
  readonly money: ReadonlyMap<string, { readonly out: string; readonly net: string }>;
  /** In milliseconds; null if no invoice was settled. */
  readonly median: number | null;
  readonly most: number | null;
  readonly reasons: BatchFigures['reasons'];
}

/** Returns the nights with a report up to `now`, newest first; days are those of the zone. */
export function nightFigures(
  batches: readonly BatchInFigures[],
  now: number,
  timeZone: string,
): readonly NightFigures[] {
  const day = dayOf(timeZone);
  const first = day(now - (NIGHTS - 1) * DAY_MS);
  const reported = batches.flatMap(({ startedAt, figures }) =>
    figures === null ? [] : [{ date: day(startedAt), figures }],
  );
  const dates = [...new Set(reported.map(({ date }) => date))]
    .filter((date) => date >= first)
    .toSorted()
    .toReversed();
  return dates.map((date) =>
    night(
      date,
      reported.filter((one) => one.date === date).map(({ figures }) => figures),
    ),
  );
}

function night(date: string, figures: readonly BatchFigures[]): NightFigures {
  const counts = everyCountByOutcome(
    figures.flatMap(({ states }) =>
      Object.entries(states).map(([outcome, invoices]) => ({ outcome: outcome as Outcome, invoices })),
    ),
  );
  const settling = mergedHistograms(figures.map((one) => one.settling));
  return {
    ...{ date, counts, money: moneyOf(figures) },
    reasons: figures.flatMap((one) => one.reasons),
    median: durationQuantile(settling, 0.5),
    most: durationQuantile(settling, 0.95),
  };
}

function moneyOf(figures: readonly BatchFigures[]): NightFigures['money'] {
  const money = new Map<string, { readonly out: string; readonly net: string }>();
  for (const { currency, net, out } of figures.flatMap((one) => one.money)) {
    if (currency === null) continue;
    const known = money.get(currency) ?? { out: '0', net: '0' };
    money.set(currency, { out: sumDecimals([known.out, out]), net: sumDecimals([known.net, net]) });
  }
  return money;
}

const MOST_REASONS = 10;

/** Returns why invoices of these nights are not confirmed as issued, commonest reason first; equal counts by name, so that a reloaded page looks the same. */
function commonReasons(nights: readonly NightFigures[]): readonly (readonly [code: string, invoices: number])[] {
  const sums = new Map<string, number>();
  for (const { code, invoices } of nights.flatMap(({ reasons }) => reasons))
    sums.set(code, (sums.get(code) ?? 0) + invoices);
  return [...sums].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MOST_REASONS);
}
