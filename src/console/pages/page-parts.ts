import type { FileShortfall } from '../../domain/batch-outcomes.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { issuedCount } from '../../domain/outcome-counts.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { findingsTable, STATE_ORDER, toneOf, type Tone } from '../../texts/outcomes/outcome-html.ts';
import type { PageFormat } from '../http/page-answers.ts';

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

/** Returns the address of a batch's page. */
export function batchAddress(batchId: string): string {
  return `/batches/${encodeURIComponent(batchId)}`;
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

/** Numbers of invoices by outcome; every outcome has an entry. */
export type StateCounts = Readonly<Record<Outcome, number>>;

/** States in which an invoice needs an operator, now or after Lote has polled again. */
export const PROBLEM_STATES: readonly Outcome[] = STATE_ORDER.filter(
  (state) => toneOf(state) === 'bad' || toneOf(state) === 'open',
);

/** Numbers of invoices not confirmed as issued: those that need an operator and, in a closed batch, all the rest. */
export interface NotOut {
  readonly problems: number;
  /** Staged, being sent or accepted, in a closed batch; 0 while the batch runs, because its progress shows them. */
  readonly underWay: number;
}

/** Counts the invoices of a batch that did not go out. In a closed batch, these are all invoices that neither it nor an earlier batch has issued. */
export function notOutOf({ state, invoices }: Pick<BatchRecord, 'state' | 'invoices'>, counts: StateCounts): NotOut {
  const problems = PROBLEM_STATES.reduce((sum, one) => sum + counts[one], 0);
  if (state !== 'finished' && state !== 'cancelled') return { problems, underWay: 0 };
  return { problems, underWay: invoices - issuedCount(counts) - problems };
}

/** Returns the colour of a batch from its state and from open or under-way invoices of a finished batch. A totals row does not count as open. */
export function batchTone(
  { state }: Pick<BatchRecord, 'state'>,
  { problems, underWay }: NotOut,
  { rowsLost, totalsDiffer, contradicted }: FileShortfall,
): Tone {
  if (state === 'refused' || contradicted > 0) return 'bad';
  if (state === 'paused' || state === 'cancelled') return 'open';
  if (state !== 'finished') return 'under-way';
  if (problems > 0 || rowsLost > 0 || totalsDiffer !== null) return 'open';
  return underWay > 0 ? 'under-way' : 'good';
}

/** Returns true if the batch may look different in two seconds. */
export function isLive({ state }: Pick<BatchRecord, 'state'>): boolean {
  return state === 'staging' || state === 'running' || state === 'paused';
}
