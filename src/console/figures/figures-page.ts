import { html } from 'hono/html';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { fill } from '../../texts/fill.ts';
import { moneyPictures, outcomePicture, reasonPicture, settlingPicture } from './night-pictures.ts';
import type { NightFigures } from './night-figures.ts';
import { nightTable, reasonTable } from './night-table.ts';

export interface FiguresPage {
  /** Oldest first. */
  readonly nights: readonly NightFigures[];
  /** Batches of these nights whose report has no figures, or that have none yet. */
  readonly without: number;
  /** More batches were read than are looked at: the oldest nights are not whole. */
  readonly isCut: boolean;
}

/** The last nights in pictures, and the tables behind them. */
export function figuresPage(format: PageFormat, { nights, without, isCut }: FiguresPage): Html {
  const { texts, plural, count } = format;
  const { figures } = texts;
  const some = nights.some(({ batches }) => batches > 0);
  return html`<h1>${figures.title}</h1>
    <p>${fill(figures.note, { n: count(nights.length) })}</p>
    ${without === 0 ? '' : html`<p class="soft">${plural(figures.without, without)}</p>`}
    ${isCut ? html`<p role="alert">${figures.cut}</p>` : ''}
    ${some ? pictures(format, nights) : html`<p role="status">${figures.none}</p>`}`;
}

function pictures(format: PageFormat, nights: readonly NightFigures[]): Html {
  const { figures } = format.texts;
  return html`${outcomePicture(format, nights)} ${moneyPictures(format, nights)} ${settlingPicture(format, nights)}
    <details>
      <summary>${figures.table}</summary>
      ${nightTable(format, nights)}
    </details>
    ${reasonPicture(format, nights)}
    <details>
      <summary>${figures.reasonTable}</summary>
      ${reasonTable(format, nights)}
    </details>`;
}
