import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compileExpressions, type Evaluate } from '../service/profile/expression.ts';
import { parseExactJson, textOf } from '../service/profile/exact-json.ts';
import {
  expressionOf,
  readPlace,
  type Document,
  type Place,
  isOneOf,
  wordAt,
  readId,
} from '../service/profile/place.ts';
import type { ServiceProfile } from '../service/profile/profile.ts';
import { hideSecret } from '../service/profile/hide-secret.ts';
import { reasonCode, reasonText } from '../service/profile/reason-text.ts';
import type { SignatureShape } from './signature-check.ts';
import type { RecordDelivery } from '../ledger/webhooks/deliveries.ts';

/** A delivery that proved where it comes from. `rawHeaders` are names and values in turn. */
export interface ProvenDelivery {
  readonly raw: Uint8Array;
  readonly rawHeaders: readonly string[];
  readonly receivedAt: number;
}

/** Reads a delivery into the rows that are stored for it, at least one. What cannot be read is a row too, without an event. */
export type EventReader = (delivery: ProvenDelivery) => Promise<readonly RecordDelivery[]>;

/** The parts of the service profile that say how events are read. */
export interface ReceiverShapes {
  readonly event: EventShape;
  /** What every invoice id begins with. */
  readonly idPrefix: string;
  readonly signature: SignatureShape;
}

/** More events in one delivery are no delivery of invoices. */
const MAX_ITEMS = 1_000;

/** All expressions of one delivery, in milliseconds; what they do not get to is stored without an event. */
const MAX_EVALUATION_MS = 2_000;
const ITEMS_PER_TURN = 20;

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Makes the reader of a service profile; its expressions are compiled here, once. `apiKey` is hidden where the service
 * quotes it in a reason; left out: there is none to hide.
 */
export function createEventReader(
  {
    event: shape,
    idPrefix,
    signature,
  }: Omit<ReceiverShapes, 'signature'> & {
    readonly signature: Pick<SignatureShape, 'header'>;
  },
  { apiKey = '' }: { readonly apiKey?: string } = {},
): EventReader {
  const { payload, items } = shape;
  const eventPlaces = [shape.type, shape.invoiceId, shape.reasonCode, shape.reasonMessage];
  const headersDecide = headersOf([payload?.at ?? null, items, ...eventPlaces]) !== null;
  const rowsOf = rowMaker(shape, { idPrefix, apiKey }, headersDecide);
  const evaluatePayload = compileExpressions([payload?.at ?? null]);
  const evaluateItems = compileExpressions([items]);
  const evaluateEvent = compileExpressions([...eventPlaces, shape.eventId]);
  const hasExpressions = [...eventPlaces, shape.eventId].flat().some((place) => expressionOf(place) !== null);
  // After the check, the proof of the sender is removed.
  const hidden = new Set([...SECRET_HEADERS, signature.header.toLowerCase()]);
  const readsHeaders = headersOf([payload?.at ?? null, items, ...eventPlaces, shape.eventId]) !== null;

  return async (delivery) => {
    const given = documentOf(readsHeaders ? delivery : { ...delivery, rawHeaders: [] }, hidden);
    const outer = payload === null ? given : await evaluatePayload(given);
    const whole = unwrap(outer, shape);
    const found = itemsOf(items === null ? whole : await evaluateItems(whole), shape);
    return rowsOf(delivery, hasExpressions ? await evaluateEach(found, evaluateEvent) : found);
  };
}

const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie'];

/** The document that places are read from. */
function documentOf({ raw, rawHeaders }: ProvenDelivery, hidden: ReadonlySet<string>): Document {
  const headers = new Map<string, string | readonly string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const value = rawHeaders[index + 1] ?? '';
    const before = headers.get(name);
    if (!hidden.has(name)) headers.set(name, before === undefined ? value : [before, value].flat());
  }
  const text = textOf(raw);
  const body = text === null ? undefined : parseJson(text);
  return { body, headers: Object.fromEntries(headers), ...(text !== null && { text }) };
}

/** The value of JSON; undefined: it is none. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

const HEADER = 'header:';

/** Names of the headers that places may read, in lower case; 'all' where an expression may ask for any; null: none. */
function headersOf(places: readonly (Place | null)[]): ReadonlySet<string> | 'all' | null {
  const list = places.flat().filter((place) => place !== null);
  if (list.some((place) => expressionOf(place)?.includes('$headers'))) return 'all';
  const named = list.filter((place) => place.startsWith(HEADER));
  return named.length === 0 ? null : new Set(named.map((place) => place.slice(HEADER.length).trim().toLowerCase()));
}

const SIGNED_HEADER = /\{header:([^{}]+)\}/g;

/**
 * Whether headers that are not signed may decide what an event says of which invoice. Then a person who has seen one signed
 * delivery can send its body again with other headers. Only a signature proves contents; the other kinds of proof show
 * the secret itself.
 */
export function isReadFromUnsignedHeaders({
  event: { payload, items, type, invoiceId },
  signature: { kind, signed, timestamp },
}: Pick<ServiceProfile, 'event' | 'signature'>): boolean {
  if (kind !== 'hmac') return false;
  const read = headersOf([payload?.at ?? null, items, type, invoiceId]);
  if (read === null || read === 'all') return read === 'all';
  const names = [...signed.matchAll(SIGNED_HEADER)].map(([, name = '']) => name.toLowerCase());
  if (signed.includes('{timestamp}') && timestamp?.startsWith(HEADER) === true)
    names.push(timestamp.slice(HEADER.length).toLowerCase());
  return [...read].some((name) => !names.includes(name));
}

/** One event of a delivery; `index` null: the delivery is one event. */
interface Item {
  readonly document: Document;
  readonly index: number | null;
  /** Left out: it can be read. */
  readonly unreadable?: true;
}

/** The delivery as a whole, in which there is no list of one to MAX_ITEMS events where the profile says so. */
const UNREADABLE: readonly Item[] = [{ document: { body: undefined }, index: null, unreadable: true }];

async function evaluateEach(items: readonly Item[], evaluate: Evaluate): Promise<readonly Item[]> {
  const end = performance.now() + MAX_EVALUATION_MS;
  const read: Item[] = [];
  for (const item of items) {
    // Other deliveries are answered meanwhile.
    // oxlint-disable-next-line no-await-in-loop
    if (read.length % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
    const inTime = performance.now() < end;
    // oxlint-disable-next-line no-await-in-loop
    read.push(inTime ? { ...item, document: await evaluate(item.document) } : { ...item, unreadable: true });
  }
  return read;
}

/** The document inside; its body is undefined when nothing readable is there. */
function unwrap(outer: Document, { payload }: EventShape): Document {
  if (payload === null) return outer;
  const found = readPlace(outer, payload.at);
  const text = typeof found === 'string' ? decode(found, payload.encoding) : null;
  const { computed: _ofOuter, text: _outerText, ...rest } = outer;
  return { ...rest, body: text === null ? undefined : parseJson(text), ...(text !== null && { text }) };
}

function decode(found: string, encoding: 'base64' | 'text'): string | null {
  if (encoding === 'text') return found;
  // Node's base64 reads the alphabet of addresses too.
  return BASE64.test(found) ? textOf(Buffer.from(found, 'base64')) : null;
}

function itemsOf(document: Document, { items }: EventShape): readonly Item[] {
  if (items === null) return [{ document, index: null }];
  const list = readPlace(document, items);
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_ITEMS) return UNREADABLE;
  const { computed: _ofList, text: _ofWhole, ...rest } = document;
  return list.map((body: unknown, index) => ({ document: { ...rest, body }, index }));
}

/** Makes the rows of one delivery. Its bytes are hashed once, however many events it holds. */
function rowMaker(shape: EventShape, about: Parameters<typeof readEvent>[2], headersDecide: boolean) {
  return ({ raw, receivedAt }: ProvenDelivery, items: readonly Item[]): readonly RecordDelivery[] => {
    const whole = sha256(raw);
    return items.map(({ document, index, unreadable }) => {
      const event = unreadable === true ? null : readEvent(document, shape, about);
      const beside = [
        ...(index === null ? [] : [index]),
        // The same bytes under another header are another event, and no duplicate.
        ...(headersDecide && event !== null ? [event.type, event.serviceId, event.verdict, event.reason] : []),
      ];
      return {
        sha256: beside.length === 0 ? whole : sha256(JSON.stringify([whole, ...beside])),
        raw: index === null ? raw : jsonOf(document, raw),
        receivedAt,
        event,
      };
    });
  };
}

function sha256(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** The item's own JSON; the whole delivery where it cannot be written, being nested too deep. */
function jsonOf({ body }: Document, whole: Uint8Array): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch {
    return whole;
  }
}

/** Where a delivery's parts stand: part of the service profile. */
export type EventShape = ServiceProfile['event'];

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
function readEvent(
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
