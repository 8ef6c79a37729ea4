import type { Document } from '../place.ts';
import { recogniseInvoiceId, recogniseMerchantId } from './created-id.ts';
import { eventAbout, type DeliveredEvent } from './delivered-event.ts';
import { envelopeOf, recogniseEnvelope } from './envelope.ts';
import { recogniseEvents, saysInvoiceIssued } from './event-places.ts';
import { isFinding, missing, type Recognised } from './finding.ts';
import { recogniseMerchantItems } from './merchant-items.ts';
import type { RecordedInvoice, Recording } from './recording.ts';
import { recogniseRefusals } from './refusals.ts';
import { lastStatusWord, recogniseStatus } from './status-words.ts';
import { saysIssued } from './known-words.ts';

/** Everything that recorded answers and deliveries show of a service profile, but for paging and signature. */
export function recognise(recording: Recording): Recognised {
  return withoutRepeats([...merchantParts(recording), ...answerParts(recording), ...invoiceParts(recording)]);
}

/** The events about an invoice among deliveries. */
export function eventsAbout(
  deliveries: readonly Document[],
  invoice: RecordedInvoice | null,
): readonly DeliveredEvent[] {
  const id = invoice?.id ?? null;
  if (id === null) return [];
  return deliveries.map((one) => eventAbout(one, id)).filter((one) => one !== null);
}

function merchantParts({ list, merchant, invoice, refused }: Recording): Recognised {
  const { created, id, proof, nif } = merchant;
  return [
    ...(created === null || id === null
      ? [
          missing(
            'merchants.createdId',
            created === null
              ? notCreated('merchant', invoice === null && id === null ? refused : null)
              : 'its id was not found',
          ),
        ]
      : recogniseMerchantId({ id, created, proof })),
    ...(list === null ? [missing('merchants.items', 'no list came')] : recogniseMerchantItems(list, { nif, id })),
  ];
}

/** How answers are wrapped, and what those that say no look like. */
function answerParts({ list, merchant, invoice, repeated, mismatch, refused, failing }: Recording): Recognised {
  if (invoice === null || invoice.id === null)
    return refused === null
      ? []
      : recogniseRefusals({ refused, mismatch: null, repeated: null, id: '', envelope: null });
  const successes = [list, merchant.created, invoice.created, ...invoice.shown, ...(failing?.shown ?? [])].filter(
    (one) => one !== null,
  );
  const envelope = refused === null ? null : envelopeOf(refused, successes);
  return [
    ...(refused === null ? [] : recogniseEnvelope(refused, successes)),
    ...recogniseRefusals({ refused, mismatch, repeated, id: invoice.id, envelope }),
  ];
}

function invoiceParts({ invoice, failing, deliveries, merchant, refused }: Recording): Recognised {
  if (invoice === null || invoice.id === null)
    return [
      missing(
        'invoice.id',
        invoice === null
          ? notCreated('invoice', merchant.id === null ? null : refused)
          : 'nothing in the answer proved to be its id',
      ),
    ];
  const { id, created, shown } = invoice;
  const events = eventsAbout(deliveries, invoice);
  return [
    ...recogniseInvoiceId({ id, created, proof: 'GET with it answered with the same id' }, shown),
    ...recogniseStatus({ shown, eventSaysIssued: saysInvoiceIssued(events), failing: failing?.shown ?? [] }),
    ...recogniseEvents({
      ...{ id, events, failing: eventsAbout(deliveries, failing) },
      getSaysIssued: saysIssued(lastStatusWord(shown) ?? ''),
    }),
  ];
}

/** `refused`: the answer to its creation; null: none came, or it was not tried. */
function notCreated(what: 'merchant' | 'invoice', refused: Document | null): string {
  if (refused === null) return `no ${what} was created`;
  const key = what === 'merchant' ? 'requests.createMerchant' : 'requests.createInvoice';
  return `no ${what} was created, for the service answered ${refused.status}: say in ${key} how it is written`;
}

/** Two answers may show one setting; the first that found it counts. */
function withoutRepeats(all: Recognised): Recognised {
  return all.filter((one, index) => {
    const same = all.filter(({ key }) => key === one.key);
    const best = same.find(isFinding) ?? same[0];
    // Several remarks about rules may stand beside each other.
    return one.key === 'answers.rules' || best === undefined ? true : all.indexOf(best) === index;
  });
}
