import type { z } from 'zod';
import type { RecordDelivery } from '../domain/ports/ledger/delivery-ledger.ts';
import type { EventSection } from '../service-profile/sections/event-section.ts';
import { hideSecret } from '../service-profile/hide-secret.ts';
import { readPlace, type Document } from '../service-profile/place.ts';
import { reasonCode } from '../service-profile/reason-code.ts';
import { reasonText } from '../service-profile/reason-text.ts';
import { isOneOf, wordAt } from '../service-profile/word.ts';
import { readId } from '../service-profile/read-id.ts';

/** Where a delivery's parts stand: part of the service profile. */
export type EventShape = z.infer<typeof EventSection>;

type Event = NonNullable<RecordDelivery['event']>;

/** Printable ASCII without spaces: it is stored as text, where PostgreSQL refuses NUL. */
const WORD = /^[\x21-\x7e]{1,200}$/;
/** A type may be a phrase in any language; what a terminal or PostgreSQL could not take is no type. */
const TYPE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u;
const LONGEST_CODE = 64;

/**
 * Reads the event of a correctly signed document; null when it has no type, or names no invoice of which it says
 * something final. `idPrefix` is what every invoice id begins with; `apiKey` is hidden where a reason quotes it.
 */
export function readEvent(
  document: Document,
  shape: EventShape,
  { idPrefix, apiKey }: { readonly idPrefix: string; readonly apiKey: string },
): Event | null {
  const type = wordAt(readPlace(document, shape.type));
  if (type === null || !TYPE.test(type)) return null;
  const serviceId = readId(readPlace(document, shape.invoiceId), idPrefix);
  const verdict = verdictOf(type, shape);
  if (verdict !== null && serviceId === null) return null;
  return {
    type,
    eventId: word(readPlace(document, shape.eventId)),
    serviceId,
    verdict,
    reason: verdict === 'failed' ? reasonOf(document, shape, apiKey) : null,
  };
}

/** A word that means both says nothing final. */
function verdictOf(type: string, { issued, failed }: EventShape): Event['verdict'] {
  const isIssued = isOneOf(type, issued);
  if (isIssued === isOneOf(type, failed)) return null;
  return isIssued ? 'issued' : 'failed';
}

function word(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && WORD.test(text) ? text : null;
}

function reasonOf(document: Document, shape: EventShape, apiKey: string): Event['reason'] {
  const given = word(readPlace(document, shape.reasonCode));
  const code = reasonCode(given === null ? null : hideSecret(given, apiKey).slice(0, LONGEST_CODE));
  const said = readPlace(document, shape.reasonMessage);
  const message = typeof said === 'string' ? reasonText(hideSecret(said, apiKey)) : '';
  if (code === null && message === '') return null;
  return { code: code ?? 'failed', message };
}
