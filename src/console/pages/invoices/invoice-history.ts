import { html, table, type SafeHtml } from '../../../texts/html.ts';
import type { PageFormat } from '../page-format.ts';
import type { ConsoleTexts } from '../../texts/en.ts';
import { fill } from '../../../texts/fill.ts';
import { wordOf } from '../../../texts/outcomes/outcome-html.ts';
import type {
  HoldingBatch,
  InvoiceAction,
  InvoiceDetails,
  InvoiceGeneration,
  StoredDelivery,
} from '../../../ledger/batches/lookup.ts';

/** The life of an invoice as a time line, oldest first: its files, its POSTs, answers, webhooks, GETs, and what people did. */
export function invoiceHistory(format: PageFormat, details: InvoiceDetails): SafeHtml {
  const { texts, plural } = format;
  const moments = invoiceMoments(format, details);
  const asks = details.generations[0]?.asks ?? 0;
  if (moments.length === 0) return html``;
  const columns = [texts.heads.when, texts.life.source, texts.heads.what, texts.heads.reason];
  const rows = moments.map((moment) => row(format, moment));
  return html`<h2>${texts.invoice.history}</h2>
    ${table(texts.invoice.history, columns, rows)}
    ${details.deliveries.length === 0 ? html`<p class="soft">${texts.invoice.webhooks}: ${texts.invoice.noWebhooks}</p>` : ''}
    ${asks === 0 ? '' : html`<p class="soft">${plural(texts.life.asked, asks)}</p>`}`;
}

function row({ texts, time }: PageFormat, { at, source, what, note }: Moment): SafeHtml {
  return html`<tr>
    <td class="time">${time(at)}</td>
    <td>${texts.life.sources[source]}</td>
    <td class="text">${what}</td>
    <td class="text">${note}</td>
  </tr>`;
}

/** One thing that happened to an invoice. `at` is epoch milliseconds. */
interface Moment {
  readonly at: number;
  readonly source: keyof ConsoleTexts['life']['sources'];
  readonly what: string;
  readonly note: string;
}

/** Everything that the ledger dated of an invoice, oldest first; of one moment, what caused before what followed. */
function invoiceMoments(format: PageFormat, details: InvoiceDetails): readonly Moment[] {
  const { generations, deliveries, batches, actions } = details;
  return [
    ...batches.map((batch) => readMoment(format, batch)),
    ...actions.map((action) => actionMoment(format, action)),
    ...generations.flatMap((life) => sendingMoments(format, life)),
    ...generations.flatMap((life) => acceptedMoment(format, life)),
    ...deliveries.map((delivery) => deliveryMoment(format, delivery)),
    ...generations.flatMap((life) => endMoments(format, life, deliveries)),
  ].sort((a, b) => a.at - b.at);
}

function moment(at: number | null, source: Moment['source'], what: string, note = ''): readonly Moment[] {
  return at === null ? [] : [{ at, source, what, note }];
}

function readMoment({ texts, plural }: PageFormat, { file, readAt, rows }: HoldingBatch): Moment {
  const what = fill(plural(texts.life.read, rows.length), { file, rows: rows.join(', ') });
  return { at: readAt, source: 'file', what, note: '' };
}

function actionMoment({ texts }: PageFormat, action: InvoiceAction): Moment {
  const { audit, life } = texts;
  const done = action.move === null ? wordOf(audit.actions, action.what) : audit.moves[action.move];
  const what = fill(life.byHand, { what: done, who: action.who ?? audit.nobody });
  return {
    at: action.at,
    source: 'person',
    what,
    note: action.acceptedDuplicateRisk ? `${action.why} · ${audit.risk}` : action.why,
  };
}

function sendingMoments({ texts, count }: PageFormat, life: InvoiceGeneration) {
  return [
    ...moment(life.frozenAt, 'lote', fill(texts.life.frozen, { n: count(life.generation) })),
    ...moment(life.firstSentAt, 'lote', texts.life.firstSent),
  ];
}

function acceptedMoment({ texts }: PageFormat, { acceptedAt, serviceId }: InvoiceGeneration): readonly Moment[] {
  return moment(acceptedAt, 'service', fill(texts.life.accepted, { id: serviceId ?? '' }));
}

function deliveryMoment({ texts }: PageFormat, { receivedAt, type, eventId, reason }: StoredDelivery): Moment {
  return {
    at: receivedAt,
    source: 'webhook',
    what: fill(texts.life.webhook, { type: type ?? '?' }),
    note: [reason?.message, eventId].filter((part) => part !== undefined && part !== null).join(' · '),
  };
}

/** The final word and who said it; or, without one, what the invoice is now. */
function endMoments({ texts }: PageFormat, life: InvoiceGeneration, deliveries: readonly StoredDelivery[]) {
  const { state, settledAt, acceptedAt, changedAt, serviceId } = life;
  const reason = life.reason?.message ?? '';
  const byWebhook = deliveries.some(
    (one) => one.serviceId === serviceId && one.verdict === state && one.receivedAt <= (settledAt ?? 0),
  );
  // A failure counts only when a GET has confirmed it, whatever a webhook said.
  const byGet = state === 'failed' ? !life.flags.includes('failure-unconfirmed') : state === 'issued' && !byWebhook;
  return [
    ...moment(byGet ? settledAt : null, 'service', fill(texts.life.saidByGet, { state })),
    ...moment(settledAt, 'lote', fill(texts.life.settled, { state }), reason),
    // A state without a time of its own: refused, held, unknown, still under way.
    ...moment(
      settledAt === null && acceptedAt === null ? changedAt : null,
      'lote',
      fill(texts.life.last, { state }),
      reason,
    ),
  ];
}
