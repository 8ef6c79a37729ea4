import { html } from 'hono/html';
import type { Html } from '../pages/page-layout.ts';
import { HEIGHT, WIDTH } from './picture-frame.ts';

/** How lines differ without their colour: in their dashes, and in their mark. */
const STYLES = [
  { tone: 'good', dashes: '', mark: 'M-3-3h6v6h-6z' },
  { tone: 'under-way', dashes: '7 4', mark: 'M0-4l4 7h-8z' },
] as const;

/** One line: points of a share of the width and a value; null where nothing is known. */
export type LinePoints = readonly { readonly x: number; readonly value: number | null }[];

/** At most two lines from the lower to the upper edge, whose value is `top`. */
export function lineDrawing(lines: readonly LinePoints[], top: number): Html {
  return html`${lines.map((points, at) => {
    const { tone, dashes } = styleOf(at);
    return html`<path class="line ${tone}" d="${pathOf(points, top)}" stroke-dasharray="${dashes}" vector-effect="non-scaling-stroke" />`;
  })}`;
}

/** A sample of a line for the legend. */
export function lineSwatch(at: number): Html {
  const { tone, dashes, mark } = styleOf(at);
  return html`<svg class="swatch wide" viewBox="0 0 32 16" aria-hidden="true">
    <path class="line ${tone}" d="M0 8h32" stroke-dasharray="${dashes}" />
    <path class="mark ${tone}" d="${mark}" transform="translate(16 8)" />
  </svg>`;
}

function styleOf(at: number) {
  return STYLES[at % STYLES.length] ?? STYLES[0];
}

/** A lone point between unknown ones is a short dash: a line needs two. */
function pathOf(points: LinePoints, top: number): string {
  let path = '';
  let drawing = false;
  for (const [at, { x, value }] of points.entries()) {
    if (value === null) {
      drawing = false;
      continue;
    }
    const place = `${short(x * WIDTH)} ${short(HEIGHT - (top <= 0 ? 0 : value / top) * HEIGHT)}`;
    const isLone = !drawing && (points[at + 1]?.value ?? null) === null;
    path += `${drawing ? 'L' : 'M'}${place}${isLone ? 'h4' : ''}`;
    drawing = true;
  }
  return path;
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}
