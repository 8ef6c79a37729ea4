import { html } from 'hono/html';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { durationText } from '../pictures/duration-text.ts';
import { FATES, type MoneyPart, type NightFigures } from './night-figures.ts';
import { commonReasons } from './night-selection.ts';

/** What the pictures of nights show, newest first; nights in which nothing was read are left out. */
export function nightTable(format: PageFormat, nights: readonly NightFigures[]): Html {
  const { texts, count, language } = format;
  const { figures } = texts;
  const duration = (ms: number | null) => (ms === null ? '' : durationText(ms, language));
  const heads = [...FATES.map((fate) => figures.fates[fate]), texts.net, figures.median, figures.most];
  const cells = (night: NightFigures): readonly Cell[] => [
    ...FATES.map((fate) => count(night.fates[fate])),
    [...night.money].map(
      ([currency, parts]) => html`<div>${shownParts(parts).map(format.money).join(' + ')} ${currency}</div>`,
    ),
    ...[duration(night.median), duration(night.most)],
  ];
  return table(format, { name: figures.table, heads, nights: newestFirst(nights), cells });
}

/** Most nights have nothing that another file issued. */
function shownParts({ out, left, before }: Readonly<Record<MoneyPart, string>>): readonly string[] {
  return before === '0' ? [out, left] : [out, left, before];
}

/** The reasons of each night, newest first. */
export function reasonTable(format: PageFormat, nights: readonly NightFigures[]): Html {
  const { figures } = format.texts;
  const reasons = commonReasons(nights);
  const heads = reasons.map(({ code }) => code ?? figures.otherReasons);
  const some = newestFirst(nights).filter((night) => night.reasons.size > 0);
  const cells = (night: NightFigures) => reasons.map(({ of }) => format.count(of(night)));
  return table(format, { name: figures.reasonTable, heads, nights: some, cells });
}

function newestFirst(nights: readonly NightFigures[]): readonly NightFigures[] {
  return nights.filter(({ batches }) => batches > 0).toReversed();
}

type Cell = string | readonly Html[];

interface Table {
  readonly name: string;
  readonly heads: readonly string[];
  readonly nights: readonly NightFigures[];
  readonly cells: (night: NightFigures) => readonly Cell[];
}

function table({ texts }: PageFormat, { name, heads, nights, cells }: Table): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}">
    <table class="numbers">
      <thead>
        <tr>
          <th scope="col">${texts.nights.night}</th>
          ${heads.map((head) => html`<th scope="col" class="number">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${nights.map((night) => html`<tr><th scope="row" class="time">${night.date}</th>${cells(night).map((cell) => html`<td>${cell}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}
