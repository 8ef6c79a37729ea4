import { wentOut } from '../../../domain/invoice-state.ts';
import { fill } from '../../../texts/fill.ts';
import { reasonLines, stateMark } from '../../../texts/outcomes/outcome-html.ts';
import { html, tableStart, type SafeHtml } from '../../../texts/html.ts';
import { reasonOf } from '../../report-model.ts';
import { rowNumbers } from './summary-tables.ts';
import type { ReportFormat } from '../../texts/report-format.ts';
import type { BatchInvoice } from '../../../domain/records/batch-record.ts';

/** Number of rows in one table. A browser lays out closed folds only when they are opened, so a large report opens at once. */
const FOLD_SIZE = 1000;

/** One list of invoices. */
export interface InvoiceSection {
  readonly title: string;
  readonly belongs: (invoice: BatchInvoice) => boolean;
  readonly total: number;
  /** Limit of invoices in the list; the page says where all of them are. */
  readonly most: number;
}

/** Writes one list: invoices in doubt, not confirmed as issued, or the others. Together they have every invoice. */
export async function* invoiceSection(
  format: ReportFormat,
  { title, belongs, total, most }: InvoiceSection,
  invoices: AsyncIterable<readonly BatchInvoice[]>,
): AsyncGenerator<string> {
  const { texts, count } = format;
  const shown = Math.min(total, most);
  yield html`<section><h2>${title} (${count(total)})</h2> ${shown < total ? html`<p>${fill(texts.list.rest, { n: count(shown), of: count(total) })}</p>` : ''}`
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

function openFold(
  { texts, count }: ReportFormat,
  { title, from, total }: { readonly title: string; readonly from: number; readonly total: number },
): string {
  const { list, heads } = texts;
  const range = fill(list.range, { from: count(from + 1), to: count(Math.min(from + FOLD_SIZE, total)) });
  const label = `${title}, ${range}`;
  const fold = total <= FOLD_SIZE ? html`` : html`<details${from === 0 ? html` open` : ''}><summary>${range}</summary>`;
  const { reference, merchant, state, net, rows, reason, serviceId } = heads;
  const columns = [reference, merchant, state, { number: net }, rows, reason, serviceId];
  return html`${fold}${tableStart(label, columns)}`.safe;
}

function closeFold(total: number): string {
  return `</tbody></table></div>${total <= FOLD_SIZE ? '' : '</details>'}\n`;
}

function invoiceRow(format: ReportFormat, invoice: BatchInvoice): SafeHtml {
  const { ref, merchantNif, state, net, currency, rows, serviceId } = invoice;
  // The row is on one line, because white space between cells would be a node each and a third of a large page.
  return html`<tr><td>${ref}</td><td>${merchantNif}</td><td>${stateMark(state)}</td><td class="number">${net === null ? '' : `${format.money(net)} ${currency ?? ''}`}</td><td>${rowNumbers(format, rows)}</td><td class="text">${reasonLines(format, { ...invoice, reason: wentOut(state) ? null : reasonOf(invoice) })}</td><td class="mono">${serviceId ?? ''}</td></tr>
`;
}
