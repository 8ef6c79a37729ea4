import type {
  HoldingBatch,
  InvoiceAction,
  InvoiceDetails,
  InvoiceGeneration,
  OpenTry,
  StoredDelivery,
} from '../../../domain/ports/invoice-lookup.ts';
import type { LookupTexts } from '../../texts/lookup-texts.ts';
import { fill } from '../../../texts/fill.ts';
import type { PageFormat } from '../page-format.ts';

/** One thing that happened to an invoice. `at` is epoch milliseconds. */
export interface Moment {
  readonly at: number;
  readonly source: keyof LookupTexts['life']['sources'];
  readonly what: string;
  readonly note: string;
}

/** Everything that the ledger dated of an invoice, oldest first; of one moment, what caused before what followed. */
export function invoiceMoments(format: PageFormat, details: InvoiceDetails): readonly Moment[] {
  const { generations, deliveries, batches, tries, actions } = details;
  return [
    ...batches.map((batch) => readMoment(format, batch)),
    ...actions.map((action) => actionMoment(format, action)),
    ...generations.flatMap((life) => sendingMoments(format, life, tries)),
    ...tries.map((one) => tryMoment(format, one)),
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
  const done = action.move === null ? (audit.actions[action.what] ?? action.what) : audit.moves[action.move];
  const what = fill(life.byHand, { what: done, who: action.who ?? audit.somebody });
  return {
    at: action.at,
    source: 'person',
    what,
    note: action.acceptedDuplicateRisk ? `${action.why} · ${life.risk}` : action.why,
  };
}

function sendingMoments({ texts, count }: PageFormat, life: InvoiceGeneration, tries: readonly OpenTry[]) {
  // The first POST stands among the tries when it brought no final word.
  const isTry = tries.some(({ generation, sentAt }) => generation === life.generation && sentAt === life.firstSentAt);
  return [
    ...moment(life.frozenAt, 'lote', fill(texts.life.frozen, { n: count(life.generation) })),
    ...moment(isTry ? null : life.firstSentAt, 'lote', texts.life.firstSent),
  ];
}

function tryMoment({ texts, time }: PageFormat, { sentAt, answeredAt, reason }: OpenTry): Moment {
  return { at: sentAt, source: 'service', what: texts.life.tried, note: `${reason.message} (${time(answeredAt)})` };
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
