import { Hono } from 'hono';
import { fill } from '../../texts/fill.ts';
import { html, table, type Row, type SafeHtml } from '../../texts/html.ts';
import { stateMark } from '../../texts/outcomes/outcome-html.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import { batchAddress } from '../pages/page-parts.ts';
import { answerSearch, readSearchQuery, type SearchAnswer, searchAddress, type SearchQuery } from '../operations.ts';
import type { FoundInvoice } from '../../ledger/batches/search.ts';

/** Serves the search over the invoices of all batches. */
export function searchRoutes({ ledger }: Pick<ConsoleOptions, 'ledger'>, pages: PageAnswers): Hono {
  const search = pages.page(async (context, format) => {
    const query = readSearchQuery((name) => context.req.query(name), format.timeZone);
    const content = searchPage(format, query, await answerSearch(ledger, query));
    return { title: format.texts.search.title, content };
  });
  return new Hono().get('/search', search);
}

function searchPage(format: PageFormat, query: SearchQuery, result: SearchAnswer | null): SafeHtml {
  const { search } = format.texts;
  return html`<h1>${search.title}</h1>
    ${form(format, query)} ${query.mistakes.map(({ kind, text }) => html`<p role="alert">${fill(search[kind], { text })}</p>`)}
    ${result === null ? '' : answer(format, query, result)}`;
}

function form({ texts: { search } }: PageFormat, { fields }: SearchQuery): SafeHtml {
  const isOpen = fields.net !== '' || fields.from !== '' || fields.to !== '';
  return html`<form action="/search" role="search">
    <div class="row">
      <label for="words">${search.label}</label>
      <input id="words" type="search" name="q" value="${fields.q}" maxlength="200" />
      <button class="main">${search.title}</button>
    </div>
    <details ${isOpen ? 'open' : ''}>
      <summary>${search.more}</summary>
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
    </details>
  </form>`;
}

function answer(format: PageFormat, query: SearchQuery, result: SearchAnswer): SafeHtml {
  const { plural, money, time } = format;
  const { search } = format.texts;
  const { found, lookedAt, backTo, next } = result;
  const net = query.search?.net;
  const readAs = net === undefined ? '' : html`<p>${fill(search.readAs, { amount: money(net) })}</p>`;
  const link = (over: Readonly<Record<string, string>>, text: string) =>
    html`<p><a href="${searchAddress(query, over)}">${text}</a></p>`;
  const reach =
    backTo === null ? '' : html`<p class="soft">${fill(plural(search.looked, lookedAt), { date: time(backTo) })}</p>`;
  const goOn = next === null ? '' : link({ after: next }, search.goOn);
  if (found.length === 0) return html`${readAs}<p role="status">${search.nothing}</p>${reach}${goOn}`;
  return html`${readAs}
    <p role="status">${plural(search.found, found.length)}</p>
    ${results(format, found)} ${lookedAt === 0 ? link({ parts: '1' }, search.parts) : ''} ${reach} ${goOn}`;
}

function results(format: PageFormat, found: readonly FoundInvoice[]): SafeHtml {
  const { heads, search } = format.texts;
  const { reference, merchant, state, net, serviceId, file } = heads;
  const columns = [
    ...[reference, merchant, state, { number: net }],
    ...[{ mono: serviceId }, { text: file }, { time: search.read }],
  ];
  const rows = found.map((invoice) => row(format, invoice));
  return table(search.title, columns, rows);
}

function row({ money, time, texts }: PageFormat, invoice: FoundInvoice): Row {
  const { batchId, ordinal, ref, merchantNif, state, net, currency, serviceId, file, readAt } = invoice;
  const { contradictions = [] } = invoice;
  const batch = batchAddress(batchId);
  return [
    ...[html`<a href="${batch}/invoices/${ordinal}">${ref}</a>`, merchantNif],
    html`${stateMark(state)}${contradictions.map((flag) => html`<div>${texts.contradictions.flags[flag]}</div>`)}`,
    ...[net === null ? '' : `${money(net)} ${currency ?? ''}`, serviceId ?? ''],
    ...[html`<a href="${batch}">${file}</a>`, time(readAt)],
  ];
}
