import { html } from 'hono/html';
import type { FoundInvoice, InvoiceSearchResult } from '../../domain/ports/invoice-search.ts';
import { TABLE_KINDS } from '../http/file-answers.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { toneOf } from '../pages/state-counts.ts';
import { CONTRADICTION_TEXTS } from '../../texts/contradictions.ts';
import { fill } from '../../texts/fill.ts';
import { positionWord, searchAddress, type SearchQuery } from './search-query.ts';

/** What the search page shows. */
export interface SearchPage {
  readonly query: SearchQuery;
  /** Null: nothing was asked. */
  readonly result: InvoiceSearchResult | null;
  /** There are several applications: each result names its own. */
  readonly several: boolean;
}

/** The form of a search, and what it found. */
export function searchPage(format: PageFormat, page: SearchPage): Html {
  const { query, result } = page;
  return html`<h1>${format.texts.search.title}</h1>
    ${form(format, query)}
    ${query.mistakes.map(({ kind, text }) => html`<p role="alert">${fill(format.texts.search[kind], { text })}</p>`)}
    ${result === null ? '' : answer(format, { ...page, result })}`;
}

function form({ texts: { search } }: PageFormat, { fields }: SearchQuery): Html {
  const opened = fields.net !== '' || fields.from !== '' || fields.to !== '';
  const more = html`<summary>${search.more}</summary>
    <div class="row">
      <label for="net">${search.net}</label>
      <input id="net" name="net" value="${fields.net}" inputmode="decimal" maxlength="40" />
    </div>
    <div class="row">
      <label for="from">${search.from}</label>
      <input id="from" type="date" name="from" value="${fields.from}" />
      <span><label for="to" class="inline">${search.to}</label></span>
      <input id="to" type="date" name="to" value="${fields.to}" />
    </div>
    <p class="soft">${search.dateNote}</p>`;
  return html`<form action="/search" role="search">
    <div class="row">
      <label for="words">${search.label}</label>
      <input id="words" type="search" name="q" value="${fields.q}" maxlength="200" />
      <button class="main">${search.button}</button>
    </div>
    ${opened ? html`<details open>${more}</details>` : html`<details>${more}</details>`}
  </form>`;
}

function answer(
  format: PageFormat,
  { query, result, several }: SearchPage & { readonly result: InvoiceSearchResult },
): Html {
  const { texts, plural, money } = format;
  const { found, lookedAt } = result;
  const net = query.search?.net;
  return html`${net === undefined ? '' : html`<p>${fill(texts.search.readAs, { amount: money(net) })}</p>`}
    <p role="status">${found.length === 0 ? texts.search.nothing : plural(texts.search.found, found.length)}</p>
    ${found.length === 0 ? '' : results(format, found, several)}
    ${found.length > 0 && lookedAt === 0 ? html`<p><a href="${searchAddress('/search', query, { parts: '1' })}">${texts.search.parts}</a></p>` : ''}
    ${reach(format, query, result)} ${found.length === 0 ? '' : saving(format, query)}`;
}

/** How far the search went, and the way on. */
function reach({ texts: { search }, plural, time }: PageFormat, query: SearchQuery, result: InvoiceSearchResult): Html {
  const { lookedAt, backTo, next } = result;
  return html`${backTo === null ? '' : html`<p class="soft">${fill(plural(search.looked, lookedAt), { date: time(backTo) })}</p>`}
  ${next === null ? '' : html`<p><a href="${searchAddress('/search', query, { after: positionWord(next) })}">${search.goOn}</a></p>`}`;
}

function saving({ texts: { search } }: PageFormat, query: SearchQuery): Html {
  const after = query.after === null ? '' : positionWord(query.after);
  const parts = query.search?.parts === true ? '1' : '';
  return html`<p>${search.save}:</p>
    <ul class="plain buttons">
      ${TABLE_KINDS.map((kind) => html`<li><a class="button" href="${searchAddress(`/search.${kind}`, query, { after, parts })}">${search[kind]}</a></li>`)}
    </ul>`;
}

function results(format: PageFormat, found: readonly FoundInvoice[], several: boolean): Html {
  const { texts } = format;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.search.title}">
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.reference}</th>
          <th scope="col">${texts.merchant}</th>
          <th scope="col">${texts.state}</th>
          <th scope="col" class="number">${texts.net}</th>
          <th scope="col">${texts.serviceId}</th>
          ${several ? html`<th scope="col">${texts.application}</th>` : ''}
          <th scope="col">${texts.file}</th>
          <th scope="col">${texts.search.read}</th>
        </tr>
      </thead>
      <tbody>
        ${found.map((invoice) => row(format, invoice, several))}
      </tbody>
    </table>
  </div>`;
}

function row({ money, time, language }: PageFormat, invoice: FoundInvoice, several: boolean): Html {
  const { batchId, ordinal, ref, merchantNif, state, net, currency, serviceId, application, file, readAt } = invoice;
  const { contradictions = [] } = invoice;
  const batch = `/batches/${encodeURIComponent(batchId)}`;
  return html`<tr>
    <td><a href="${batch}/invoices/${ordinal}">${ref}</a></td>
    <td>${merchantNif}</td>
    <td><span class="state ${toneOf(state)}">${state}</span>${contradictions.map((flag) => html`<div>${CONTRADICTION_TEXTS[language].flags[flag]}</div>`)}</td>
    <td class="number">${net === null ? '' : html`${money(net)} ${currency ?? ''}`}</td>
    <td class="mono">${serviceId ?? ''}</td>
    ${several ? html`<td>${application}</td>` : ''}
    <td class="text"><a href="${batch}">${file}</a></td>
    <td class="time">${time(readAt)}</td>
  </tr>`;
}
