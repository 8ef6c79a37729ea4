import { html } from 'hono/html';
import type { Html } from '../pages/page-layout.ts';

/** How the parts of a picture differ without their colour, in the order in which they are given out. */
const KINDS = ['solid', 'hatch', 'dots', 'rows', 'cross', 'empty'] as const;
/** For parts of which the first one is what is hoped for. */
const FATES = ['good', 'bad', 'open', 'under-way'] as const;
/** For parts that are all trouble. */
const TROUBLES = ['bad', 'open', 'under-way'] as const;

/** A colour and a texture; `id` is its name within the page. */
export interface Fill {
  readonly id: string;
  readonly kind: (typeof KINDS)[number];
  readonly tone: (typeof FATES)[number];
}

/** Fills of a picture's parts, six at most; no two look alike without colours. `ofTrouble`: no part of it is good. */
export function fillsOf(picture: string, parts: number, ofTrouble = false): readonly Fill[] {
  const tones = ofTrouble ? TROUBLES : FATES;
  return KINDS.slice(0, parts).map((kind, at) => ({
    ...{ id: `${picture}-${kind}`, kind },
    tone: tones[at % tones.length] ?? 'open',
  }));
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
