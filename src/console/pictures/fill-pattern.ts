import { html } from 'hono/html';
import type { Html } from '../pages/page-layout.ts';

/** How the parts of a picture differ without their colour, in the order in which they are given out. */
const KINDS = ['solid', 'hatch', 'dots', 'rows', 'cross', 'empty'] as const;
const TONES = ['good', 'bad', 'open', 'under-way', 'bad', 'open'] as const;

/** A colour and a texture; `id` is its name within the page. */
export interface Fill {
  readonly id: string;
  readonly kind: (typeof KINDS)[number];
  readonly tone: (typeof TONES)[number];
}

/** Fills of a picture's parts, six at most; no two look alike without colours. */
export function fillsOf(picture: string, parts: number): readonly Fill[] {
  return KINDS.slice(0, parts).map((kind, at) => ({ id: `${picture}-${kind}`, kind, tone: TONES[at] ?? 'good' }));
}

/** The definition of a fill, once in the page's first SVG that uses it. */
export function fillPattern({ id, kind, tone }: Fill): Html {
  return html`<pattern id="${id}" class="${tone}" width="8" height="8" patternUnits="userSpaceOnUse">
    <rect width="8" height="8" class="${kind === 'solid' ? 'ink' : 'paper'}" />
    ${SHAPES[kind]}
  </pattern>`;
}

const SHAPES: Readonly<Record<Fill['kind'], Html | ''>> = {
  solid: '',
  hatch: html`<path d="M-2 2l4-4M0 8l8-8M6 10l4-4" class="stroke" />`,
  dots: html`<circle cx="2" cy="2" r="1.6" class="ink" /><circle cx="6" cy="6" r="1.6" class="ink" />`,
  rows: html`<path d="M0 2h8M0 6h8" class="stroke" />`,
  cross: html`<path d="M0 0l8 8M8 0l-8 8" class="stroke" />`,
  empty: '',
};
