import { durationDoublings, durationQuantile } from '../../../domain/time/duration-histogram.ts';
import type { ReportModel } from '../../report-model.ts';
import { groupedDigits } from './grouped-digits.ts';
import { html, type SafeHtml } from './html.ts';

const WIDTH = 600;
const HEIGHT = 80;
/** A bar that stands for somebody must be seen. */
const LOWEST = 1;

/** How long the service took from the first POST to its final word; nothing where nothing was settled. It needs no colour, and prints. */
export function settlingPicture({ settling }: Pick<ReportModel, 'settling'>): SafeHtml {
  const bars = durationDoublings(settling);
  const [half, most] = [durationQuantile(settling, 0.5), durationQuantile(settling, 0.95)];
  if (half === null || most === null) return html``;
  const words = `Half of the invoices had their final word within ${shownDuration(half)} of their first POST, 95 of 100 within ${shownDuration(most)}.`;
  return html`<section aria-label="How long settling took">
    <h2>How long settling took</h2>
    <p>${words}</p>
    <svg class="settling" role="img" aria-label="${words}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
      ${bars.map(({ count }, at) => rect(count, { at, of: bars.length, top: Math.max(...bars.map((bar) => bar.count)) }))}
    </svg>
    <details>
      <summary>As a table</summary>
      <table>
        <thead><tr><th scope="col">Within</th><th scope="col" class="number">Invoices</th></tr></thead>
        <tbody>${bars.map(({ withinMs, count }) => html`<tr><td>${shownDuration(withinMs)}</td><td class="number">${groupedDigits(String(count))}</td></tr>`)}</tbody>
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
function shownDuration(ms: number): string {
  const [size, unit] =
    ms < 1_000 ? [1, 'ms'] : ms < 60_000 ? [1_000, 's'] : ms < 3_600_000 ? [60_000, 'min'] : [3_600_000, 'h'];
  const value = ms / size;
  return `${value < 10 && unit !== 'ms' ? Math.round(value * 10) / 10 : Math.round(value)} ${unit}`;
}
