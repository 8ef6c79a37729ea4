import { readPlace, type Document } from '../place.ts';
import { wordAt } from '../word.ts';
import type { DeliveredEvent } from './delivered-event.ts';
import { guessed, missing, seen, unconfirmed, type Finding, type Missing, type Recognised } from './finding.ts';
import { placesOfId } from './id-places.ts';
import { failedByForm, meaningOf, saysIssued } from './known-words.ts';
import { headerLeaves, leavesOf, type Leaf } from './leaves.ts';
import { reasonsAt } from './status-words.ts';
import { isWord, shownId, shownWord } from './shown.ts';

/** The events of one invoice, each with the way to it. */
export interface InvoiceEvents {
  readonly id: string;
  readonly events: readonly DeliveredEvent[];
  /** Those of an invoice that had to fail. */
  readonly failing: readonly DeliveredEvent[];
  /** The last answer to GET says `issued` itself. */
  readonly getSaysIssued: boolean;
}

const TYPE_KEYS: readonly (readonly [RegExp, number])[] = [
  [/^(?:type|eventtype)$/, 100],
  [/^(?:event|eventname|topic)$/, 92],
  [/^(?:kind|displayname|name)$/, 80],
  [/^(?:action|changetype|trigger)$/, 60],
];
const TYPE_HEADER = /(?:event|topic|type)$/;
const EVENT_ID_KEYS: readonly (readonly [RegExp, number])[] = [
  [/^(?:eventid|eventuuid)$/, 100],
  [/^(?:id|uuid)$/, 85],
  [/^(?:sequence|nr|number|messageid)$/, 60],
];
const EVENT_ID_HEADER = /(?:webhookid|eventid|delivery|deliveryid|messageid)$/;
const OWN_HEADERS = /^(?:contenttype|host|accept|useragent|contentlength|connection)$/;

/** Whether the type of an event says that its invoice is issued, by the word itself. */
export function saysInvoiceIssued(events: readonly DeliveredEvent[]): boolean {
  return events.some(({ event }) => typePlaces(event).some(({ value }) => saysIssued(String(value))));
}

/** Whether the type of an event says something final. */
export function isFinalEvent({ event }: DeliveredEvent): boolean {
  return typePlaces(event).length > 0;
}

/** Where the parts of an event stand, and the words of its type. */
export function recogniseEvents({ id, events, failing, getSaysIssued }: InvoiceEvents): Recognised {
  const issued = events.findLast(isIssuedEvent) ?? events.at(-1);
  if (issued === undefined) return [missing('event.type', 'no event about the invoice came')];
  const { payload, items, event } = issued;
  const [type] = typePlaces(event).filter(({ value }) => meaningOf(String(value)) === 'issued');
  const [invoiceId] = placesOfId(event, id);
  return [
    ...(payload === null
      ? []
      : [seen('event.payload', payload, `JSON as ${payload.encoding} there names the invoice`)]),
    ...(items === null ? [] : [seen('event.items', items, 'a list there holds the event')]),
    ...typeWords(type, failing, getSaysIssued),
    invoiceId === undefined
      ? missing('event.invoiceId', 'the id of the invoice stands in no event')
      : seen('event.invoiceId', invoiceId.place, `${shownId(invoiceId.value)} there is the id of the invoice`),
    eventIdOf(event, id),
    ...failureReasons(event, failing.at(-1)?.event),
  ];
}

function isIssuedEvent({ event }: DeliveredEvent): boolean {
  return typePlaces(event).some(({ value }) => meaningOf(String(value)) === 'issued');
}

function typeWords(type: Leaf | undefined, failing: readonly DeliveredEvent[], getSaysIssued: boolean): Recognised {
  if (type === undefined) return [missing('event.type', 'no word of the event says that the invoice is issued')];
  const word = String(type.value);
  const failed = failing
    .map(({ event }) => wordAt(readPlace(event, type.place)))
    .findLast((one) => one !== null && one !== word && meaningOf(one) === 'failed');
  const byForm = failedByForm(word);
  const failedWord: Finding | Missing =
    typeof failed === 'string'
      ? seen('event.failed', [failed], `the event of the invoice that had to fail has ${shownWord(failed)}`)
      : byForm === null
        ? missing('event.failed', 'no event of a failure came: write the word of the service there')
        : guessed('event.failed', [byForm], `by the form of ${shownWord(word)}; no event of a failure came`);
  return [
    seen('event.type', type.place, `${shownWord(word)} stands there`),
    saysIssued(word) || getSaysIssued
      ? seen('event.issued', [word], `the event of the issued invoice has ${shownWord(word)}`)
      : unconfirmed('event.issued', [word], `${shownWord(word)} is a word that other services use for issued`),
    failedWord,
  ];
}

/** Words of an event that say something final, the likeliest first. */
function typePlaces(event: Document): readonly Leaf[] {
  const leaves = [...leavesOf(event.body), ...eventHeaders(event)];
  return leaves
    .filter(({ value }) => typeof value === 'string' && isWord(value) && meaningOf(value) !== null)
    .map((leaf) => ({ leaf, score: typeScore(leaf) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ leaf }) => leaf);
}

function typeScore({ place, key, steps }: Leaf): number {
  if (place.startsWith('header:')) return TYPE_HEADER.test(key) ? 90 : 0;
  return (TYPE_KEYS.find(([pattern]) => pattern.test(key))?.[1] ?? 0) - steps.length;
}

function eventIdOf(event: Document, id: string): Finding | Missing {
  const invoices = placesOfId(event, id).map(({ place }) => place);
  const inBody = leavesOf(event.body).filter(({ steps, place }) => steps.length <= 2 && !invoices.includes(place));
  const scored = [
    ...inBody.map((leaf) => ({ leaf, score: scoreIn(leaf, EVENT_ID_KEYS) })),
    ...eventHeaders(event).map((leaf) => ({ leaf, score: EVENT_ID_HEADER.test(leaf.key) ? 90 : 0 })),
  ].filter(({ leaf, score }) => score > 0 && wordAt(leaf.value) !== null && typeof leaf.value !== 'boolean');
  const [best] = scored.toSorted((one, other) => other.score - one.score);
  if (best === undefined) return missing('event.eventId', 'no key looks like the id of an event: Lote does without');
  return seen('event.eventId', best.leaf.place, `${shownId(best.leaf.value)} there, by the name of the key`);
}

function scoreIn({ key, steps }: Leaf, keys: readonly (readonly [RegExp, number])[]): number {
  const score = keys.find(([pattern]) => pattern.test(key))?.[1];
  return score === undefined ? 0 : score - 4 * steps.length;
}

function eventHeaders(event: Document): readonly Leaf[] {
  return headerLeaves(event).filter(({ key }) => !OWN_HEADERS.test(key));
}

function failureReasons(issued: Document, failed: Document | undefined): Recognised {
  if (failed === undefined) return [];
  const fresh = leavesOf(failed.body).filter(
    ({ place, value }) => typeof value === 'string' && wordAt(readPlace(issued, place)) === null,
  );
  return reasonsAt(
    'event',
    failed,
    fresh.map(({ place }) => place),
  );
}
