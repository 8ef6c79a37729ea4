import type { ReplayedPlace } from '../../domain/ports/replay.ts';
import type { RecordDelivery } from '../../domain/ports/ledger/delivery-ledger.ts';
import { shownPlace } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { isOneOf } from '../../service-profile/word.ts';
import { createEventReader, type EventReader, type EventReaderShapes } from '../../webhooks/event-reader.ts';
import type { DeliveryRecording, RecordedBody } from '../recordings/recording.ts';
import { NO_FACTS, placeFound, type ReadRecord, type RecordFacts } from './read-record.ts';
import { judgeSignature } from './replay-signature.ts';

/** Reads a recorded delivery; one of several events gives a record for each. */
export type DeliveryReplay = (recording: DeliveryRecording) => Promise<readonly ReadRecord[]>;

/** Says that JSON stands inside the delivery, whatever it holds. */
const ANY_JSON = 'jsonata:$type($)';

/** Makes the reader of deliveries of a profile. */
export function createDeliveryReplay(profile: ServiceProfile): DeliveryReplay {
  const { event, signature, invoice } = profile;
  const shapes: EventReaderShapes = { event, signature, idPrefix: invoice.idPrefix };
  const read = createEventReader(shapes);
  const why = createDiagnosis(shapes);
  return async (recording) => {
    const { name: record, at } = recording;
    const judged = judgeSignature(recording, signature);
    const row = { record, at, operation: 'delivery', status: null } as const;
    const raw = recording.body === null ? null : bytesOf(recording.body);
    if (raw === null)
      return [
        {
          row: { ...row, understood: false, says: `${judged.says}; its body was not recorded`, places: judged.places },
          facts: NO_FACTS,
        },
      ];
    const delivery = { raw, rawHeaders: recording.headers, receivedAt: at };
    const events = await read(delivery);
    const problem = events.some(({ event: one }) => one === null) ? await why(delivery, events) : '';
    return events.map(({ event: one }) => {
      const said = one === null ? unreadable(problem) : eventSaid(one, profile);
      const understood = judged.understood === false ? false : said.understood;
      return {
        row: { ...row, understood, says: `${said.says}; ${judged.says}`, places: [...judged.places, ...said.places] },
        facts: said.facts,
      };
    });
  };
}

interface Said {
  readonly understood: boolean | null;
  readonly says: string;
  readonly places: readonly ReplayedPlace[];
  readonly facts: RecordFacts;
}

function unreadable(says: string): Said {
  return { understood: false, says, places: [], facts: NO_FACTS };
}

function eventSaid(
  { type, serviceId, verdict, eventId, reason }: NonNullable<RecordDelivery['event']>,
  { event: shape }: ServiceProfile,
): Said {
  const places = [
    placeFound('event.type', shape.type, type),
    placeFound('event.invoiceId', shape.invoiceId, serviceId),
    placeFound('event.eventId', shape.eventId, eventId),
    ...(verdict === 'failed'
      ? [
          placeFound('event.reasonCode', shape.reasonCode, reason?.code ?? null),
          placeFound('event.reasonMessage', shape.reasonMessage, reason?.message ?? null),
        ]
      : []),
  ];
  const facts = { serviceId, word: type, verdict: verdict ?? 'open' } as const;
  if (verdict === null) {
    const both = isOneOf(type, shape.issued);
    const says = both ? `${type} is in event.issued and in event.failed` : `${type} changes nothing`;
    return { understood: both ? false : null, says, places, facts };
  }
  return { understood: true, says: `${type}: ${serviceId ?? ''} is ${verdict}`, places, facts };
}

/** Bytes that are read as what came would have been; null: they cannot be. */
function bytesOf(body: RecordedBody): Uint8Array | null {
  if (body.kind === 'json') return Buffer.from(JSON.stringify(body.value) ?? '');
  return body.kind === 'text' ? Buffer.from(body.text) : null;
}

type Delivery = Parameters<EventReader>[0];

/** Which place finds nothing: the reader is asked again for less and less. */
function createDiagnosis(
  shapes: EventReaderShapes,
): (delivery: Delivery, events: readonly RecordDelivery[]) => Promise<string> {
  const { event } = shapes;
  const withEvent = (over: Partial<EventReaderShapes['event']>): EventReader =>
    createEventReader({ ...shapes, event: { ...event, ...over } });
  const anyType = withEvent({ issued: [], failed: [] });
  const anyJson = withEvent({ items: null, type: ANY_JSON, issued: [], failed: [] });
  return async (delivery, events) => {
    const [inside] = await anyJson(delivery);
    if (inside?.event === null || inside === undefined)
      return event.payload === null ? 'it is no JSON' : `no JSON at ${shownPlace(event.payload.at)} (event.payload)`;
    if (event.items !== null && events[0]?.raw === delivery.raw)
      return `no list of events at ${shownPlace(event.items)} (event.items)`;
    const typed = await anyType(delivery);
    const nameless = typed.some(({ event: one }) => one === null);
    return nameless
      ? `no type of event at ${shownPlace(event.type)} (event.type)`
      : `no usable id of an invoice at ${shownPlace(event.invoiceId)} (event.invoiceId, invoice.idPrefix)`;
  };
}
