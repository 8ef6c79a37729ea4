import { html } from 'hono/html';
import type { Html } from './page-layout.ts';
import { STATE_ORDER, toneOf } from './state-counts.ts';
import type { StateCounts } from './state-counts.ts';

const WIDTH = 1000;

/** A bar of the states, best on the left; what it shows stands in words beside it, and in its label. */
export function progressBar(counts: StateCounts): Html {
  const present = STATE_ORDER.toReversed().filter((state) => counts[state] > 0);
  const total = present.reduce((sum, state) => sum + counts[state], 0);
  if (total === 0) return html``;
  let x = 0;
  const parts = present.map((state) => {
    const width = (counts[state] / total) * WIDTH;
    // On one line: a list of a hundred batches has hundreds of them.
    const part = html`<rect class="${toneOf(state)}" x="${rounded(x)}" width="${rounded(width)}" height="10" />`;
    x += width;
    return part;
  });
  const label = present.map((state) => `${state} ${counts[state]}`).join(', ');
  return html`<svg class="bar" role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none">${parts}</svg>`;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
