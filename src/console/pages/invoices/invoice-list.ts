import { OUTCOMES, type Outcome } from '../../../domain/invoice-state.ts';
import { type ListPart, listPart, listPages } from '../notes.ts';
import type { BatchInvoice } from '../../../domain/records/batch-record.ts';
import { html, table, type SafeHtml } from '../../../texts/html.ts';
import { reasonLines, STATE_ORDER, stateMark } from '../../../texts/outcomes/outcome-html.ts';
import type { PageFormat } from '../page-format.ts';
import { PROBLEM_STATES, type StateCounts } from '../state-counts.ts';

/** Number of rows before an ellipsis: an invoice of a thousand lines must not fill the page. */
const MOST_ROWS = 8;

export interface InvoiceList {
  readonly batchId: string;
  readonly counts: StateCounts;
  readonly view: InvoiceView;
  readonly invoices: readonly BatchInvoice[];
}

/** Renders one page of invoices, with the choice of states above and the other pages below. */
export function invoiceList(format: PageFormat, list: InvoiceList): SafeHtml {
  const { texts } = format;
  const { heads } = texts;
  const { batchId, view, invoices } = list;
  const columns = [
    ...[heads.reference, heads.merchant, heads.state, { number: heads.net }],
    ...[heads.rows, heads.reason, heads.serviceId, { number: texts.attempts }],
  ];
  const rows = invoices.map((invoice) => invoiceRow(format, batchId, invoice));
  return html`<h2 id="invoices">${heads.invoices}</h2>
    ${choices(format, list)}
    ${invoices.length === 0 ? html`<p>${texts.noInvoices}</p>` : table(heads.invoices, columns, rows)}
    ${listPages(format, view, (page) => address(batchId, view.show, page))}`;
}

function choices({ texts, count }: PageFormat, { batchId, counts, view }: InvoiceList): SafeHtml {
  const sum = (states: readonly (keyof StateCounts)[]) => states.reduce((total, state) => total + counts[state], 0);
  const offered: readonly (readonly [show: InvoiceView['show'], label: string, invoices: number])[] = [
    ['problems', texts.problems, sum(PROBLEM_STATES)],
    ['all', texts.all, sum(STATE_ORDER)],
    ...STATE_ORDER.filter((state) => counts[state] > 0).map((state) => [state, state, counts[state]] as const),
  ];
  return html`<ul class="plain">
    ${offered.map(
      ([show, label, invoices]) =>
        html`<li>
          <a href="${address(batchId, show, 1)}" ${show === view.show ? html`aria-current="true"` : ''}>${label} (${count(invoices)})</a>
        </li>`,
    )}
  </ul>`;
}

function address(batchId: string, show: string, page: number): string {
  return `/batches/${encodeURIComponent(batchId)}?show=${show}&page=${page}#invoices`;
}

function invoiceRow(format: PageFormat, batchId: string, invoice: BatchInvoice): SafeHtml {
  const { ordinal, ref, merchantNif, state, net, currency, rows, serviceId, attempts } = invoice;
  return html`<tr>
    <td><a href="/batches/${encodeURIComponent(batchId)}/invoices/${ordinal}">${ref}</a></td>
    <td>${merchantNif}</td>
    <td>${stateMark(state)}</td>
    <td class="number">${net === null ? '' : `${format.money(net)} ${currency ?? ''}`}</td>
    <td>${rows.slice(0, MOST_ROWS).join(', ')}${rows.length > MOST_ROWS ? ', …' : ''}</td>
    <td class="text">${reasonLines(format, invoice)}</td>
    <td class="mono">${serviceId ?? ''}</td>
    <td class="number">${format.count(attempts)}</td>
  </tr>`;
}

/** Number of invoices on one page of a list: with a long reason beside each, the page stays below 100 kB. */
export const WINDOW_SIZE = 50;

/** The invoices of a batch that a page shows. */
export interface InvoiceView extends ListPart {
  readonly show: 'problems' | 'all' | Outcome;
  readonly states: ReadonlySet<Outcome>;
}

/** Reads `?show=` and `?page=`; by default the page shows problems first, if there are any. */
export function invoiceView(
  counts: StateCounts,
  query: { readonly show: string | undefined; readonly page: string | undefined },
): InvoiceView {
  const show = shown(counts, query.show);
  const states = statesOf(show);
  const total = [...states].reduce((sum, state) => sum + counts[state], 0);
  return { show, states: new Set(states), ...listPart(total, WINDOW_SIZE, query.page) };
}

function shown(counts: StateCounts, asked: string | undefined): InvoiceView['show'] {
  if (asked === 'problems' || asked === 'all') return asked;
  const state = OUTCOMES.find((known) => known === asked);
  if (state !== undefined) return state;
  return PROBLEM_STATES.some((problem) => counts[problem] > 0) ? 'problems' : 'all';
}

function statesOf(show: InvoiceView['show']): readonly Outcome[] {
  if (show === 'all') return OUTCOMES;
  return show === 'problems' ? PROBLEM_STATES : [show];
}
