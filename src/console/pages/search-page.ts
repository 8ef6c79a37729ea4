import { html } from 'hono/html';
import type { FoundInvoice } from '../../domain/ports/invoice-lookup.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { toneOf } from './state-counts.ts';

/** Results of a search at most; a reference or an id has a handful. */
export const MOST_FOUND = 100;

/** The search page with its results. No words: only the form. */
export function searchPage(format: PageFormat, words: string, found: readonly FoundInvoice[]): Html {
  const { texts } = format;
  return html`<h1>${texts.search.title}</h1>
    <form action="/search" class="row" role="search">
      <label for="words">${texts.search.label}</label>
      <input id="words" type="search" name="q" value="${words}" maxlength="200" required />
      <button class="main">${texts.search.button}</button>
    </form>
    ${words === '' ? '' : found.length === 0 ? html`<p>${texts.search.nothing}</p>` : results(format, found)}`;
}

function results(format: PageFormat, found: readonly FoundInvoice[]): Html {
  const { texts } = format;
  return html`<p role="status">
      ${format.plural(texts.search.found, found.length)} ${found.length === MOST_FOUND ? texts.search.limited : ''}
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.search.title}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.reference}</th>
            <th scope="col">${texts.merchant}</th>
            <th scope="col">${texts.state}</th>
            <th scope="col" class="number">${texts.net}</th>
            <th scope="col">${texts.serviceId}</th>
            <th scope="col">${texts.file}</th>
          </tr>
        </thead>
        <tbody>
          ${found.map((invoice) => row(format, invoice))}
        </tbody>
      </table>
    </div>`;
}

function row({ money }: PageFormat, invoice: FoundInvoice): Html {
  const { batchId, ordinal, ref, merchantNif, state, net, currency, serviceId, file } = invoice;
  const batch = `/batches/${encodeURIComponent(batchId)}`;
  return html`<tr>
    <td><a href="${batch}/invoices/${ordinal}">${ref}</a></td>
    <td>${merchantNif}</td>
    <td><span class="state ${toneOf(state)}">${state}</span></td>
    <td class="number">${net === null ? '' : html`${money(net)} ${currency ?? ''}`}</td>
    <td class="mono">${serviceId ?? ''}</td>
    <td class="text"><a href="${batch}">${file}</a></td>
  </tr>`;
}
