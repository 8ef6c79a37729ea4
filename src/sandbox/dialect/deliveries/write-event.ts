import { writtenPlace } from '../place.ts';
import type { SpokenProfile } from '../spoken-profile.ts';
import { put, putIfFree } from '../answers/write-answer.ts';
import { wordToken } from '../word.ts';
import { WrittenDocument } from '../written-document.ts';

/** An event as the sandbox plans it. */
export interface SpokenEvent {
  readonly id: string;
  readonly invoiceId: string | number;
  /** Null: the invoice is issued. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Writes a delivery of one event: the event, in a list where the profile has one, inside a payload where it has one. */
export function writeEvent({ event }: SpokenProfile, spoken: SpokenEvent): WrittenDocument {
  const inner = writeParts(event, spoken);
  const listed = event.items === null ? inner : wrapped(inner, event.items, [inner.body ?? {}]);
  if (event.payload === null) return listed;
  const { at, encoding } = event.payload;
  const json = listed.bytes;
  return wrapped(listed, at, encoding === 'text' ? json : Buffer.from(json).toString('base64'));
}

function writeParts(event: SpokenProfile['event'], { id, invoiceId, error }: SpokenEvent): WrittenDocument {
  const document = new WrittenDocument();
  const [word = ''] = error === null ? event.issued : event.failed;
  put(document, event.type, wordToken(word));
  put(document, event.invoiceId, invoiceId);
  put(document, event.eventId, id);
  if (error !== null) {
    put(document, event.reasonCode, error.code);
    putIfFree(document, event.reasonMessage, error.message);
  }
  return document;
}

/** A new document with a value at a place, and the headers of the one inside. */
function wrapped(
  { headers }: WrittenDocument,
  at: NonNullable<SpokenProfile['event']['items']>,
  value: unknown,
): WrittenDocument {
  const outer = new WrittenDocument();
  for (const [name, text] of Object.entries(headers)) outer.write({ kind: 'header', name }, text);
  const place = writtenPlace(at);
  if (place !== null) outer.write(place, value);
  return outer;
}
