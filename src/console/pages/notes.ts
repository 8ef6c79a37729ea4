import type { Finding } from '../../domain/invoice.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { findingsTable } from '../../texts/outcomes/outcome-html.ts';
import type { PageFormat } from './page-format.ts';

/** More findings than a person reads on a page; the report contains all. */
const MOST_FINDINGS = 100;

/** Renders the findings of a file with a heading, or nothing if there are none. */
export function firstFindings(format: PageFormat, findings: readonly Finding[], title: string): SafeHtml {
  if (findings.length === 0) return html``;
  return html`<h2>${title}</h2>
    ${findingsTable(format, findings, { title, most: MOST_FINDINGS })}`;
}

/** Renders the misfits of the service profile, or nothing if there are none. */
export function misfitNote({ texts, time }: PageFormat, misfits: readonly ProfileMisfit[]): SafeHtml {
  if (misfits.length === 0) return html``;
  return html`<section class="card" role="alert">
    <p><strong>${texts.misfits}</strong></p>
    ${misfits.map(({ message, lastAt }) => html`<p>${message} <span class="soft">${time(lastAt)}</span></p>`)}
  </section>`;
}

/** One page of a list that is longer than a page. */
export interface ListPart {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** Returns the page of a list of `total` entries for `?page=`: by default the first, and the nearest if that page does not exist. */
export function listPart(total: number, size: number, asked: string | undefined): ListPart {
  const pages = Math.max(1, Math.ceil(total / size));
  const wanted = /^\d{1,7}$/u.test(asked ?? '') ? Number(asked) : 1;
  return { page: Math.min(Math.max(1, wanted), pages), pages };
}

/** Renders links to the other pages of a list, or nothing if there is only one page. */
export function listPages(
  { texts, count }: PageFormat,
  { page, pages }: ListPart,
  addressOf: (page: number) => string,
): SafeHtml {
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
