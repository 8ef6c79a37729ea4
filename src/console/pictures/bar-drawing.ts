import { html } from 'hono/html';
import type { Html } from '../pages/page-layout.ts';
import { type Fill, fillPattern } from './fill-pattern.ts';
import { HEIGHT, WIDTH } from './picture-frame.ts';

/** A part that is there must be seen, however small it is. */
const LOWEST = 1.5;

/** One part of all bars: its value in each of them, from the left. */
export interface BarPart {
  readonly fill: Fill;
  readonly values: readonly number[];
}

/** Bars whose parts stand on each other, the first one at the bottom; `top` is the value of the upper edge. Parts below zero are not drawn. */
export function barDrawing(parts: readonly BarPart[], top: number): Html {
  const bars = parts[0]?.values.length ?? 0;
  const pitch = WIDTH / Math.max(1, bars);
  const heights = Array.from({ length: bars }, (_, at) =>
    heightsOf(
      parts.map(({ values }) => values[at] ?? 0),
      top,
    ),
  );
  const bottoms = Array.from({ length: bars }, () => 0);
  return html`<defs>${parts.map(({ fill }) => fillPattern(fill))}</defs>
    ${parts.map(({ fill }, part) => {
      let path = '';
      for (const [at, own] of heights.entries()) {
        const height = own[part] ?? 0;
        if (height <= 0) continue;
        const bottom = bottoms[at] ?? 0;
        bottoms[at] = bottom + height;
        path += `M${short(at * pitch + 0.5)} ${short(HEIGHT - bottom - height)}h${short(pitch - 1)}v${short(height)}h${short(1 - pitch)}z`;
      }
      return html`<path class="part ${fill.tone}" d="${path}" fill="url(#${fill.id})" />`;
    })}`;
}

/** Heights of the parts of one bar; what small parts need to be seen is taken from the largest, so that all stay inside. */
function heightsOf(values: readonly number[], top: number): readonly number[] {
  const heights = values.map((value) => (value <= 0 || top <= 0 ? 0 : Math.max(LOWEST, (value / top) * HEIGHT)));
  const over = heights.reduce((sum, height) => sum + height, 0) - HEIGHT;
  if (over <= 0) return heights;
  const largest = heights.indexOf(Math.max(...heights));
  return heights.map((height, at) => (at === largest ? height - over : height));
}

/** A small sample of a fill for the legend; the pattern is defined by the drawing. */
export function barSwatch({ id, tone }: Fill): Html {
  return html`<svg class="swatch" viewBox="0 0 16 16" aria-hidden="true">
    <rect class="part ${tone}" x="1" y="1" width="14" height="14" fill="url(#${id})" />
  </svg>`;
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}
