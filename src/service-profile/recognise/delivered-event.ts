import { isPlainObject } from '../../domain/plain-object.ts';
import type { Document } from '../place.ts';
import type { ServiceProfile } from '../profile.ts';
import { placesOfId } from './id-places.ts';
import { leavesOf, listsOf } from './leaves.ts';

type Payload = ServiceProfile['event']['payload'];

/** The event about one invoice in a delivery, and the way to it. */
export interface DeliveredEvent {
  readonly payload: Payload;
  /** Place of the list of events; null: the delivery is the event. */
  readonly items: string | null;
  /** The event, with the headers of the delivery. */
  readonly event: Document;
}

const BASE64 = /^[A-Za-z0-9+/_-]{8,}={0,2}$/;
const LONGEST_PAYLOAD = 1_000_000;

/** The event about this invoice in a delivery: itself, an item of a list, or inside a payload; null: it is not about it. */
export function eventAbout(delivery: Document, id: string): DeliveredEvent | null {
  return eventIn(delivery, id, null) ?? eventInPayload(delivery, id);
}

function eventIn(document: Document, id: string, payload: Payload): DeliveredEvent | null {
  const places = placesOfId(document, id).map(({ place }) => place);
  const inList = listsOf(document.body).filter(({ items }) => items.length > 0 && items.every(isPlainObject));
  const list = inList.find(({ place }) => places.every((one) => isWithin(one, place)));
  if (places.length === 0) return null;
  if (list === undefined) return { payload, items: null, event: document };
  const item = list.items.find((body) => placesOfId({ body }, id).length > 0);
  return { payload, items: list.place, event: { ...document, body: item } };
}

function isWithin(place: string, list: string): boolean {
  return place.startsWith(`${list}/`) || place.startsWith('jsonata:');
}

function eventInPayload(delivery: Document, id: string): DeliveredEvent | null {
  for (const { place, value } of leavesOf(delivery.body)) {
    if (typeof value !== 'string' || value.length < 8 || value.length > LONGEST_PAYLOAD) continue;
    for (const encoding of ['text', 'base64'] as const) {
      const body = parsed(value, encoding);
      const found = body === null ? null : eventIn({ ...delivery, body }, id, { at: place, encoding });
      if (found !== null) return found;
    }
  }
  return null;
}

function parsed(value: string, encoding: 'text' | 'base64'): object | null {
  if (encoding === 'base64' && !BASE64.test(value)) return null;
  try {
    const text = encoding === 'text' ? value : decodedText(value);
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' ? body : null;
  } catch {
    return null;
  }
}

function decodedText(base64: string): string {
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}
