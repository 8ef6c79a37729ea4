import { wentOut } from '../../../domain/invoice-state.ts';
import type { BatchInvoice } from '../../../domain/ports/ledger.ts';
import { groupedDigits, shownMoney } from './grouped-digits.ts';
import { toneOf } from './state-bar.ts';
import { html, type SafeHtml } from './html.ts';
import { reasonOf } from '../../reason-of.ts';
import { rowList } from '../../row-list.ts';

/** Rows of one table: a browser lays out closed folds only when they are opened, so a large report opens at once. */
const FOLD_SIZE = 1000;

export interface InvoiceSection {
  readonly title: string;
  readonly invoices: AsyncIterable<readonly BatchInvoice[]>;
  readonly belongs: (invoice: BatchInvoice) => boolean;
  /** How many belong; nothing is written for none. */
  readonly total: number;
  /** More are not written here: the page says where all of them stand. */
  readonly most: number;
}

/** Invoices that did not go out, or those that did: together every invoice of the batch. */
export async function* invoiceSection({
  title,
  invoices,
  belongs,
  total,
  most,
}: InvoiceSection): AsyncGenerator<string> {
  if (total === 0) return;
  const shown = Math.min(total, most);
  yield html`<section><h2>${title} (${groupedDigits(String(total))})</h2> ${shown < total ? rest(shown, total) : ''}`
    .safe;
  let written = 0;
  for await (const portion of invoices) {
    let text = '';
    for (const invoice of portion) {
      if (!belongs(invoice) || written === most) continue;
      if (written % FOLD_SIZE === 0) text += (written === 0 ? '' : closeFold(shown)) + openFold(title, written, shown);
      text += invoiceRow(invoice).safe;
      written += 1;
    }
    yield text;
  }
  yield closeFold(shown);
  yield '</section>\n';
}

/** Said above the list: whoever scrolls to its end must not think that it is one. */
function rest(shown: number, total: number): SafeHtml {
  const [here, all] = [shown, total].map((count) => groupedDigits(String(count)));
  return html`<p>
    Only the first ${here ?? ''} of ${all ?? ''} stand on this page, so that it opens at once. All of them are in
    <a href="report.csv">report.csv</a> and <a href="report.json">report.json</a> beside it, and in the console.
  </p>`;
}

function openFold(title: string, from: number, total: number): string {
  const to = Math.min(from + FOLD_SIZE, total);
  const label = `${title}, ${from + 1} to ${to}`;
  const fold =
    total <= FOLD_SIZE
      ? html``
      : html`<details${from === 0 ? html` open` : ''}><summary>${from + 1} to ${to}</summary>`;
  return html`${fold}
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table>
        <thead>
          <tr>
            <th scope="col">Reference</th>
            <th scope="col">Merchant</th>
            <th scope="col">State</th>
            <th scope="col" class="number">Net</th>
            <th scope="col">Rows</th>
            <th scope="col">Reason</th>
            <th scope="col">Service id</th>
          </tr>
        </thead>
        <tbody>
     `.safe;
}

function closeFold(total: number): string {
  return `</tbody></table></div>${total <= FOLD_SIZE ? '' : '</details>'}\n`;
}

function invoiceRow(invoice: BatchInvoice): SafeHtml {
  const { ref, merchantNif, state, net, currency, rows, serviceId } = invoice;
  // On one line: white space between cells would be a node each, and a third of a large page.
  return html`<tr><td>${ref}</td><td>${merchantNif}</td><td><span class="state ${toneOf(state)}">${state}</span></td><td class="number">${net === null ? '' : `${shownMoney(net)} ${currency ?? ''}`}</td><td>${rowList(rows).replace(/^rows? /u, '')}</td><td class="text">${reasonCell(invoice)}</td><td class="mono">${serviceId ?? ''}</td></tr>
`;
}

/** An invalid invoice shows each of its findings; an issued one shows warnings and contradictions, if there are any. */
function reasonCell(invoice: BatchInvoice): SafeHtml {
  const reason = wentOut(invoice.state) ? null : reasonOf(invoice);
  const messages = invoice.findings.map(({ message }) => message).filter((message) => message !== reason?.message);
  const lines = [...(reason === null ? [] : [reason.message]), ...messages, ...invoice.flags];
  return html`${lines.map((line) => html`<div>${line}</div>`)}`;
}
