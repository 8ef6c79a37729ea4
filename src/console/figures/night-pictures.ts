import { html } from 'hono/html';
import { sumDecimals } from '../../domain/money.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { barDrawing, barSwatch } from '../pictures/bar-drawing.ts';
import { durationText } from '../pictures/duration-text.ts';
import { fillsOf } from '../pictures/fill-pattern.ts';
import { lineDrawing, lineSwatch } from '../pictures/line-drawing.ts';
import { pictureFrame } from '../pictures/picture-frame.ts';
import { fill } from '../../texts/fill.ts';
import { FATES, MONEY_PARTS, type MoneyPart, type NightFigures } from './night-figures.ts';
import { commonReasons, currenciesOf } from './night-selection.ts';

/** Parts of one picture: a name, what it is in all, and its value in each night. */
interface Series {
  readonly name: string;
  readonly value: string;
  readonly values: readonly number[];
}

/** Invoices by what became of them, night by night. */
export function outcomePicture(format: PageFormat, nights: readonly NightFigures[]): Html {
  const { figures } = format.texts;
  const series = FATES.map((fate) =>
    counted(
      format,
      figures.fates[fate],
      nights.map(({ fates }) => fates[fate]),
    ),
  );
  return bars(format, { id: 'outcomes', title: figures.outcomes, nights, series, shownTop: format.count });
}

/** The net amount of each night, one picture for a currency. */
export function moneyPictures(format: PageFormat, nights: readonly NightFigures[]): readonly Html[] {
  const { figures } = format.texts;
  return currenciesOf(nights).map((currency) => {
    const isThere = (part: MoneyPart) => nights.some(({ money }) => (money.get(currency)?.[part] ?? '0') !== '0');
    // Most installations have nothing that another file issued.
    const series = MONEY_PARTS.filter((part) => part !== 'before' || isThere(part)).map((part) => {
      const amounts = nights.map(({ money }) => money.get(currency)?.[part] ?? '0');
      const value = `${format.money(sumDecimals(amounts))} ${currency}`;
      return { name: figures.money[part], value, values: amounts.map(Number) };
    });
    const title = fill(figures.amount, { currency });
    const shownTop = (top: number) => `${format.count(Math.round(top))} ${currency}`;
    return bars(format, { id: `money-${currency}`, title, nights, series, shownTop });
  });
}

/** Why invoices are not confirmed as issued: the commonest reasons, and all others together. */
export function reasonPicture(format: PageFormat, nights: readonly NightFigures[]): Html {
  const { figures } = format.texts;
  const series = commonReasons(nights).map(({ code, of }) =>
    counted(format, code ?? figures.otherReasons, nights.map(of)),
  );
  if (series.length === 0) return html``;
  return bars(format, {
    id: 'reasons',
    title: figures.reasons,
    nights,
    series,
    shownTop: format.count,
    ofTrouble: true,
  });
}

/** How long settling took: the middle invoice of each night, and the one that 95 of 100 were not slower than. */
export function settlingPicture(format: PageFormat, nights: readonly NightFigures[]): Html {
  const { texts, language } = format;
  const lines = [nights.map(({ median }) => median), nights.map(({ most }) => most)];
  const top = Math.max(...lines.flat().map((value) => value ?? 0));
  if (top === 0) return html``;
  const highest = (values: readonly (number | null)[]) =>
    durationText(Math.max(...values.map((value) => value ?? 0)), language);
  const names = [texts.figures.median, texts.figures.most];
  const legend = names.map((name, at) => ({
    swatch: lineSwatch(at),
    name,
    value: fill(texts.figures.upTo, { value: highest(lines[at] ?? []) }),
  }));
  const points = lines.map((values) => values.map((value, at) => ({ x: (at + 0.5) / nights.length, value })));
  return pictureFrame({
    ...frameOf(format, nights, legend),
    title: texts.figures.settling,
    top: durationText(top, language),
    drawing: lineDrawing(points, top),
    legend,
  });
}

interface Bars {
  readonly id: string;
  readonly title: string;
  readonly nights: readonly NightFigures[];
  readonly series: readonly Series[];
  readonly shownTop: (top: number) => string;
  /** No part of it is good. */
  readonly ofTrouble?: boolean;
}

function bars(format: PageFormat, { id, title, nights, series, shownTop, ofTrouble }: Bars): Html {
  const top = Math.max(
    ...nights.map((_, at) => series.reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0)),
  );
  const fills = fillsOf(id, series.length, ofTrouble);
  const parts = series.flatMap(({ name, value, values }, at) => {
    const own = fills[at];
    return own === undefined ? [] : [{ fill: own, values, name, value, swatch: barSwatch(own) }];
  });
  const isBelow = series.some(({ values }) => values.some((value) => value < 0));
  return pictureFrame({
    ...frameOf(format, nights, parts),
    ...{ title, top: shownTop(top), drawing: barDrawing(parts, top), legend: parts },
    ...(isBelow && { note: format.texts.figures.below }),
  });
}

function frameOf(
  { date }: PageFormat,
  nights: readonly NightFigures[],
  legend: readonly { name: string; value: string }[],
) {
  const [first, last] = [nights[0]?.date ?? '', nights.at(-1)?.date ?? ''];
  const summary = legend.map(({ name, value }) => `${name} ${value}`).join(', ');
  return { summary, first: date(first), last: date(last) };
}

function counted({ count }: PageFormat, name: string, values: readonly number[]): Series {
  return { name, values, value: count(values.reduce((sum, value) => sum + value, 0)) };
}
