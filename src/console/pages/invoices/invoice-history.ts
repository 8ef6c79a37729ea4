import { html } from 'hono/html';
import type { InvoiceDetails } from '../../../domain/ports/invoice-lookup.ts';
import { invoiceMoments, type Moment } from './invoice-moments.ts';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';

/** The life of an invoice as a time line, oldest first: its files, its POSTs, answers, webhooks, GETs, and what people did. */
export function invoiceHistory(format: PageFormat, details: InvoiceDetails): Html {
  const { texts, plural } = format;
  const moments = invoiceMoments(format, details);
  const asks = details.generations[0]?.asks ?? 0;
  if (moments.length === 0) return html``;
  return html`<h2>${texts.invoice.history}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.invoice.history}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.invoice.when}</th>
            <th scope="col">${texts.life.source}</th>
            <th scope="col">${texts.invoice.what}</th>
            <th scope="col">${texts.reason}</th>
          </tr>
        </thead>
        <tbody>
          ${moments.map((moment) => row(format, moment))}
        </tbody>
      </table>
    </div>
    ${details.deliveries.length === 0 ? html`<p class="soft">${texts.invoice.webhooks}: ${texts.invoice.noWebhooks}</p>` : ''}
    ${asks === 0 ? '' : html`<p class="soft">${plural(texts.life.asked, asks)}</p>`}`;
}

function row({ texts, time }: PageFormat, { at, source, what, note }: Moment): Html {
  return html`<tr>
    <td class="time">${time(at)}</td>
    <td>${texts.life.sources[source]}</td>
    <td class="text">${what}</td>
    <td class="text">${note}</td>
  </tr>`;
}
