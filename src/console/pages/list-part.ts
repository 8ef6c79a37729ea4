import { html } from 'hono/html';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

/** One page of a list that is longer than a page. */
export interface ListPart {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** The page of a list of `total` entries that `?page=` asks for: the first where it asks for none, the nearest where there is no such page. */
export function listPart(total: number, size: number, asked: string | undefined): ListPart {
  const pages = Math.max(1, Math.ceil(total / size));
  const wanted = /^\d{1,7}$/u.test(asked ?? '') ? Number(asked) : 1;
  return { page: Math.min(Math.max(1, wanted), pages), pages };
}

/** The way to the other pages of a list; nothing where there is one. */
export function listPages(
  { texts, count }: PageFormat,
  { page, pages }: ListPart,
  addressOf: (page: number) => string,
): Html {
  if (pages === 1) return html``;
  const to = (other: number, label: string) => html`<li><a href="${addressOf(other)}">${label}</a></li>`;
  return html`<nav aria-label="${texts.page}">
    <ul class="plain">
      ${page === 1 ? '' : to(page - 1, texts.previous)}
      <li>${texts.page} ${count(page)} / ${count(pages)}</li>
      ${page === pages ? '' : to(page + 1, texts.next)}
    </ul>
  </nav>`;
}
