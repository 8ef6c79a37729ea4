import { html } from 'hono/html';
import type { InvoiceDetails, InvoiceGeneration, StoredDelivery } from '../../domain/ports/invoice-lookup.ts';
import { fill } from '../texts/fill.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

interface Moment {
  readonly at: number;
  readonly what: string;
  readonly note: string;
}

/** What happened to an invoice, oldest first: what the ledger dated, and every webhook about it. */
export function invoiceHistory(format: PageFormat, { generations, deliveries }: InvoiceDetails): Html {
  const { texts, time } = format;
  const moments = [
    ...generations.flatMap((life) => lifeMoments(format, life)),
    ...deliveries.map((delivery) => deliveryMoment(format, delivery)),
  ].sort((a, b) => a.at - b.at);
  if (moments.length === 0) return html``;
  return html`<h2>${texts.invoice.history}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.invoice.history}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.invoice.when}</th>
            <th scope="col">${texts.invoice.what}</th>
            <th scope="col">${texts.reason}</th>
          </tr>
        </thead>
        <tbody>
          ${moments.map(
            ({ at, what, note }) =>
              html`<tr>
                <td class="time">${time(at)}</td>
                <td class="text">${what}</td>
                <td class="text">${note}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${deliveries.length === 0 ? html`<p class="soft">${texts.invoice.webhooks}: ${texts.invoice.noWebhooks}</p>` : ''}`;
}

function lifeMoments({ texts }: PageFormat, life: InvoiceGeneration): readonly Moment[] {
  const { events } = texts.invoice;
  const moment = (at: number | null, what: string, note = ''): readonly Moment[] =>
    at === null ? [] : [{ at, what, note }];
  const reason = life.reason?.message ?? '';
  return [
    ...moment(life.firstSentAt, events.firstSent),
    ...moment(life.acceptedAt, fill(events.accepted, { id: life.serviceId ?? '' })),
    ...moment(life.settledAt, fill(events.settled, { state: life.state }), reason),
    // A state without a time of its own: refused, held, unknown, still under way.
    ...moment(
      life.settledAt === null && life.acceptedAt === null ? life.changedAt : null,
      fill(events.last, { state: life.state }),
      reason,
    ),
  ];
}

function deliveryMoment({ texts }: PageFormat, { receivedAt, type, eventId, reason }: StoredDelivery): Moment {
  const what = fill(texts.invoice.events.webhook, { type: type ?? '?' });
  return {
    at: receivedAt,
    what,
    note: [reason?.message, eventId].filter((part) => part !== undefined && part !== null).join(' · '),
  };
}
