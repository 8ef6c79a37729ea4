import { html } from 'hono/html';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { durationText } from '../pictures/duration-text.ts';
import { lineDrawing, lineSwatch } from '../pictures/line-drawing.ts';
import { pictureFrame } from '../pictures/picture-frame.ts';
import { fill } from '../../texts/fill.ts';
import { paceOf, type Pace } from './pace.ts';
import type { PaceSample } from './pace-samples.ts';

/** Rows of the table behind the line; the line has more points than anybody reads. */
const MOST_ROWS = 12;

/** What is drawn of a running batch. */
export interface PacePicture {
  /** Oldest first. */
  readonly line: readonly PaceSample[];
  /** Invoices that can be settled at all. */
  readonly all: number;
  /** Invoices that the batch still works on. */
  readonly left: number;
  /** Why nothing goes on; null: it goes on, or nobody knows. */
  readonly waitingFor: string | null;
}

/** How a running batch goes: sent and settled so far, the rate, the time left, or why it waits. */
export function pacePicture(format: PageFormat, { line, all, left, waitingFor }: PacePicture): Html {
  const { texts, time, count } = format;
  const [first, last] = [line[0], line.at(-1)];
  if (first === undefined || last === undefined || all === 0) return html``;
  const span = Math.max(1, last.at - first.at);
  const points = (value: (sample: PaceSample) => number) =>
    line.map((sample) => ({ x: (sample.at - first.at) / span, value: value(sample) }));
  const legend = [
    { swatch: lineSwatch(0), name: texts.pace.sent, value: count(last.sent) },
    { swatch: lineSwatch(1), name: texts.pace.settled, value: count(last.settled) },
  ];
  return html`${pictureFrame({
    ...{ title: texts.pace.title, top: count(all), first: time(first.at), last: time(last.at), legend },
    summary: legend.map(({ name, value }) => `${name} ${value} / ${count(all)}`).join(', '),
    drawing: lineDrawing([points(({ sent }) => sent), points(({ settled }) => settled)], all),
  })}
    ${words(format, { line, left, waitingFor })} ${paceTable(format, line)}`;
}

function words(format: PageFormat, { line, left, waitingFor }: Omit<PacePicture, 'all'>): Html {
  return html`<p>
    ${waitingFor === null ? '' : html`${format.texts.operations.waitingFor} ${waitingFor}. `}
    ${rateWords(format, paceOf(line, left))}
  </p>`;
}

function rateWords({ texts, language, count }: PageFormat, { perSecond, leftMs }: Pace): Html {
  if (perSecond === null) return html`${texts.pace.unknown}`;
  if (leftMs === null) return html`${texts.pace.notMoving}`;
  const rate = perSecond >= 10 ? Math.round(perSecond) : Math.round(perSecond * 10) / 10;
  return html`${fill(texts.pace.rate, { n: count(rate) })} <strong>${fill(texts.pace.left, { time: durationText(leftMs, language) })}</strong>`;
}

function paceTable({ texts, time, count }: PageFormat, line: readonly PaceSample[]): Html {
  const step = Math.max(1, Math.ceil(line.length / MOST_ROWS));
  const rows = line.filter((_, at) => (line.length - 1 - at) % step === 0).toReversed();
  return html`<details>
    <summary>${texts.pace.table}</summary>
    <p class="soft">${texts.pace.note}</p>
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.invoice.when}</th>
          <th scope="col" class="number">${texts.pace.sent}</th>
          <th scope="col" class="number">${texts.pace.settled}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(({ at, sent, settled }) => html`<tr><td class="time">${time(at)}</td><td class="number">${count(sent)}</td><td class="number">${count(settled)}</td></tr>`)}
      </tbody>
    </table>
  </details>`;
}
