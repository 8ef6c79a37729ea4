import { wentOut } from '../../../domain/invoice-state.ts';
import type { BatchInvoice } from '../../../domain/ports/ledger/batch-record.ts';
import { CONTRADICTION_TEXTS } from '../../../texts/contradictions.ts';
import { fill } from '../../../texts/fill.ts';
import { toneOf } from './state-bar.ts';
import { html, type SafeHtml } from './html.ts';
import { reasonOf } from '../../state-reason.ts';
import { rowNumbers } from '../../row-list.ts';
import type { ReportFormat } from '../../texts/report-format.ts';
import { problemWords } from './problem-words.ts';

/** Rows of one table: a browser lays out closed folds only when they are opened, so a large report opens at once. */
const FOLD_SIZE = 1000;

export interface InvoiceSection {
  readonly title: string;
  readonly format: ReportFormat;
  readonly invoices: AsyncIterable<readonly BatchInvoice[]>;
  readonly belongs: (invoice: BatchInvoice) => boolean;
  /** How many belong; nothing is written for none. */
  readonly total: number;
  /** More are not written here: the page says where all of them stand. */
  readonly most: number;
}

/** Invoices in doubt, those that are not confirmed as issued, or the others: together every invoice of the batch. */
export async function* invoiceSection({
  title,
  format,
  invoices,
  belongs,
  total,
  most,
}: InvoiceSection): AsyncGenerator<string> {
  if (total === 0) return;
  const shown = Math.min(total, most);
  yield html`<section><h2>${title} (${format.count(total)})</h2> ${shown < total ? rest(format, shown, total) : ''}`
    .safe;
  let written = 0;
  for await (const portion of invoices) {
    let text = '';
    for (const invoice of portion) {
      if (!belongs(invoice) || written === most) continue;
      if (written % FOLD_SIZE === 0)
        text += (written === 0 ? '' : closeFold(shown)) + openFold(format, { title, from: written, total: shown });
      text += invoiceRow(format, invoice).safe;
      written += 1;
    }
    yield text;
  }
  yield closeFold(shown);
  yield '</section>\n';
}

/** Said above the list: whoever scrolls to its end must not think that it is one. */
function rest({ texts: { list }, count }: ReportFormat, shown: number, total: number): SafeHtml {
  return html`<p>
    ${fill(list.rest, { n: count(shown), of: count(total) })}
    <a href="report.csv">report.csv</a> ${list.and} <a href="report.json">report.json</a> ${list.restPlaces}
  </p>`;
}

function openFold(
  { texts, count }: ReportFormat,
  { title, from, total }: { readonly title: string; readonly from: number; readonly total: number },
): string {
  const { list, reasons } = texts;
  const range = fill(list.range, { from: count(from + 1), to: count(Math.min(from + FOLD_SIZE, total)) });
  const label = `${title}, ${range}`;
  const fold = total <= FOLD_SIZE ? html`` : html`<details${from === 0 ? html` open` : ''}><summary>${range}</summary>`;
  return html`${fold}
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table>
        <thead>
          <tr>
            <th scope="col">${list.reference}</th>
            <th scope="col">${list.merchant}</th>
            <th scope="col">${reasons.state}</th>
            <th scope="col" class="number">${list.net}</th>
            <th scope="col">${list.rows}</th>
            <th scope="col">${reasons.reason}</th>
            <th scope="col">${list.serviceId}</th>
          </tr>
        </thead>
        <tbody>
     `.safe;
}

function closeFold(total: number): string {
  return `</tbody></table></div>${total <= FOLD_SIZE ? '' : '</details>'}\n`;
}

function invoiceRow(format: ReportFormat, invoice: BatchInvoice): SafeHtml {
  const { ref, merchantNif, state, net, currency, rows, serviceId } = invoice;
  // On one line: white space between cells would be a node each, and a third of a large page.
  return html`<tr><td>${ref}</td><td>${merchantNif}</td><td><span class="state ${toneOf(state)}">${state}</span></td><td class="number">${net === null ? '' : `${format.money(net)} ${currency ?? ''}`}</td><td>${rowNumbers(format, rows)}</td><td class="text">${reasonCell(format, invoice)}</td><td class="mono">${serviceId ?? ''}</td></tr>
`;
}

/** An invalid invoice shows each of its findings; an issued one shows warnings and contradictions, if there are any. */
function reasonCell(format: ReportFormat, invoice: BatchInvoice): SafeHtml {
  const { state, findings, flags, contradictions = [] } = invoice;
  const reason = wentOut(state) ? null : reasonOf(invoice);
  const others = findings.filter(({ message }) => message !== reason?.message);
  const lines = [
    ...(reason === null ? [] : [problemWords(format, reason, state)]),
    ...others.map((finding) => problemWords(format, finding)),
    ...contradictions.map((flag) => html`<strong>${CONTRADICTION_TEXTS[format.language].flags[flag]}</strong>`),
    ...flags.map((flag) => html`${flag}`),
  ];
  return html`${lines.map((line) => html`<div>${line}</div>`)}`;
}
