import { durationDoublings, durationQuantile } from '../../../domain/time/duration-histogram.ts';
import type { ReportModel } from '../../report-model.ts';
import { fill } from '../../../texts/fill.ts';
import type { ReportFormat } from '../../texts/report-format.ts';
import { html, type SafeHtml } from './html.ts';

const WIDTH = 600;
const HEIGHT = 80;
/** A bar that stands for somebody must be seen. */
const LOWEST = 1;

/** How long the service took from the first POST to its final word; nothing where nothing was settled. It needs no colour, and prints. */
export function settlingPicture({ settling }: Pick<ReportModel, 'settling'>, format: ReportFormat): SafeHtml {
  const { texts, count: counted } = format;
  const bars = durationDoublings(settling);
  const [half, most] = [durationQuantile(settling, 0.5), durationQuantile(settling, 0.95)];
  if (half === null || most === null) return html``;
  const shown = (ms: number): string => shownDuration(ms, format);
  const words = fill(texts.settling.sentence, { half: shown(half), most: shown(most) });
  return html`<section aria-label="${texts.settling.title}">
    <h2>${texts.settling.title}</h2>
    <p>${words}</p>
    <svg class="settling" role="img" aria-label="${words}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
      ${bars.map(({ count }, at) => rect(count, { at, of: bars.length, top: Math.max(...bars.map((bar) => bar.count)) }))}
    </svg>
    <details>
      <summary>${texts.settling.table}</summary>
      <table>
        <thead><tr><th scope="col">${texts.settling.within}</th><th scope="col" class="number">${texts.settling.invoices}</th></tr></thead>
        <tbody>${bars.map(({ withinMs, count }) => html`<tr><td>${shown(withinMs)}</td><td class="number">${counted(count)}</td></tr>`)}</tbody>
      </table>
    </details>
  </section>`;
}

interface Place {
  readonly at: number;
  readonly of: number;
  readonly top: number;
}

function rect(count: number, { at, of, top }: Place): SafeHtml {
  const width = WIDTH / of;
  const height = count === 0 ? 0 : Math.max(LOWEST, (count / top) * HEIGHT);
  return html`<rect x="${(at * width + 1).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${(width - 2).toFixed(1)}" height="${height.toFixed(1)}" />`;
}

/** `320 ms`, `1.3 s`, `20 s`, `5 min`, `2.5 h`: two digits, for the steps are no finer. */
function shownDuration(ms: number, { amount }: ReportFormat): string {
  const [size, unit] =
    ms < 1_000 ? [1, 'ms'] : ms < 60_000 ? [1_000, 's'] : ms < 3_600_000 ? [60_000, 'min'] : [3_600_000, 'h'];
  const value = ms / size;
  return `${amount(String(value < 10 && unit !== 'ms' ? Math.round(value * 10) / 10 : Math.round(value)))} ${unit}`;
}
