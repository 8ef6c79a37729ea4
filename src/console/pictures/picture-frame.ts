import { html } from 'hono/html';
import type { Html } from '../pages/page-layout.ts';

export interface PictureFrame {
  readonly title: string;
  /** What the picture says, for who does not see it. */
  readonly summary: string;
  /** The value at the upper edge; the lower edge is 0. */
  readonly top: string;
  readonly first: string;
  readonly last: string;
  readonly drawing: Html;
  readonly legend: readonly { readonly swatch: Html; readonly name: string; readonly value: string }[];
  /** What the drawing leaves out. */
  readonly note?: string;
}

/** Width of each drawing in its own units; the page stretches it. */
export const WIDTH = 720;
/** Height of each drawing in its own units. */
export const HEIGHT = 160;

/** A drawing with its words around it: words in the drawing would shrink with it on a narrow screen. */
export function pictureFrame({ title, summary, top, first, last, drawing, legend, note }: PictureFrame): Html {
  return html`<figure>
    <figcaption>${title}</figcaption>
    <p class="axis soft" aria-hidden="true"><span>${top}</span></p>
    <svg class="picture" role="img" aria-label="${title}: ${summary}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
      ${drawing}
    </svg>
    <p class="axis soft" aria-hidden="true"><span>${first}</span><span>${last}</span></p>
    <ul class="plain">
      ${legend.map(({ swatch, name, value }) => html`<li>${swatch} ${name} <strong>${value}</strong></li>`)}
    </ul>
    ${note === undefined ? '' : html`<p class="soft">${note}</p>`}
  </figure>`;
}
