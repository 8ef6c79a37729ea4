import { html } from 'hono/html';
import type { BatchInvoice } from '../../../domain/ports/ledger/batch-record.ts';
import { CONTRADICTION_TEXTS } from '../../../texts/contradictions.ts';
import { TABLE_KINDS } from '../../http/file-answers.ts';
import { listPages } from '../list-part.ts';
import type { InvoiceView } from './invoice-view.ts';
import { MOST_SAVED } from './invoice-window.ts';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';
import { PROBLEM_STATES, STATE_ORDER, toneOf } from '../state-counts.ts';
import type { StateCounts } from '../state-counts.ts';

/** Rows named before an ellipsis: an invoice of a thousand lines must not fill the page. */
const MOST_ROWS = 8;

export interface InvoiceList {
  readonly batchId: string;
  readonly counts: StateCounts;
  readonly view: InvoiceView;
  readonly invoices: readonly BatchInvoice[];
}

/** One page of invoices, with the choice of states above and the other pages below. */
export function invoiceList(format: PageFormat, list: InvoiceList): Html {
  const { texts } = format;
  const { batchId, view } = list;
  return html`<h2 id="invoices">${texts.invoices}</h2>
    ${choices(format, list)}
    ${list.invoices.length === 0 ? html`<p>${texts.noInvoices}</p>` : table(format, list)}
    ${listPages(format, view, (page) => address(batchId, view.show, page))} ${saving(format, list)}`;
}

/** The invoices of the view, on all its pages, as files; a very long view is in the report's files. */
function saving({ texts: { search } }: PageFormat, { batchId, counts, view }: InvoiceList): Html {
  const invoices = [...view.states].reduce((sum, state) => sum + counts[state], 0);
  if (invoices === 0 || invoices > MOST_SAVED) return html``;
  const address = `/batches/${encodeURIComponent(batchId)}/invoices`;
  return html`<p>${search.saveView}:</p>
    <ul class="plain buttons">
      ${TABLE_KINDS.map((kind) => html`<li><a class="button" href="${address}.${kind}?show=${view.show}">${search[kind]}</a></li>`)}
    </ul>`;
}

function choices({ texts, count }: PageFormat, { batchId, counts, view }: InvoiceList): Html {
  const sum = (states: readonly (keyof StateCounts)[]) => states.reduce((total, state) => total + counts[state], 0);
  const offered: readonly (readonly [show: InvoiceView['show'], label: string, invoices: number])[] = [
    ['problems', texts.problems, sum(PROBLEM_STATES)],
    ['all', texts.all, sum(STATE_ORDER)],
    ...STATE_ORDER.filter((state) => counts[state] > 0).map((state) => [state, state, counts[state]] as const),
  ];
  return html`<ul class="plain">
    ${offered.map(([show, label, invoices]) => html`<li>${link(address(batchId, show, 1), `${label} (${count(invoices)})`, show === view.show)}</li>`)}
  </ul>`;
}

function address(batchId: string, show: string, page: number): string {
  return `/batches/${encodeURIComponent(batchId)}?show=${show}&page=${page}#invoices`;
}

function link(href: string, label: string, current: boolean): Html {
  return current ? html`<a href="${href}" aria-current="true">${label}</a>` : html`<a href="${href}">${label}</a>`;
}

function table(format: PageFormat, { batchId, invoices }: InvoiceList): Html {
  const { texts } = format;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.invoices}">
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.reference}</th>
          <th scope="col">${texts.merchant}</th>
          <th scope="col">${texts.state}</th>
          <th scope="col" class="number">${texts.net}</th>
          <th scope="col">${texts.rows}</th>
          <th scope="col">${texts.reason}</th>
          <th scope="col">${texts.serviceId}</th>
          <th scope="col" class="number">${texts.attempts}</th>
        </tr>
      </thead>
      <tbody>
        ${invoices.map((invoice) => invoiceRow(format, batchId, invoice))}
      </tbody>
    </table>
  </div>`;
}

function invoiceRow({ money, count, language }: PageFormat, batchId: string, invoice: BatchInvoice): Html {
  const { ordinal, ref, merchantNif, state, net, currency, rows, serviceId, attempts, reason, findings, flags } =
    invoice;
  const lines = new Set([
    ...(invoice.contradictions ?? []).map((flag) => CONTRADICTION_TEXTS[language].flags[flag]),
    ...(reason === null ? [] : [reason.message]),
    ...findings.map(({ message }) => message),
    ...flags,
  ]);
  return html`<tr>
    <td><a href="/batches/${encodeURIComponent(batchId)}/invoices/${ordinal}">${ref}</a></td>
    <td>${merchantNif}</td>
    <td><span class="state ${toneOf(state)}">${state}</span></td>
    <td class="number">${net === null ? '' : `${money(net)} ${currency ?? ''}`}</td>
    <td>${rows.slice(0, MOST_ROWS).join(', ')}${rows.length > MOST_ROWS ? ', …' : ''}</td>
    <td class="text">${[...lines].map((line) => html`<div>${line}</div>`)}</td>
    <td class="mono">${serviceId ?? ''}</td>
    <td class="number">${count(attempts)}</td>
  </tr>`;
}
