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

/** A delivery that proved its sender. `rawHeaders` holds names and values in turn. */
interface ProvenDelivery {
  readonly raw: Uint8Array;
  readonly rawHeaders: readonly string[];
  readonly receivedAt: number;
}

/** The parts of the service profile that say how to read events. */
export interface ReceiverShapes {
  readonly event: EventShape;
  /** The prefix of every invoice id. */
  readonly idPrefix: string;
  readonly signature: SignatureShape;
}

/** A delivery with more events is not a delivery about invoices. */
const MAX_ITEMS = 1_000;

/** Limit for all expressions of one delivery, in milliseconds; the items left after it are stored without an event. */
const MAX_EVALUATION_MS = 2_000;
const ITEMS_PER_TURN = 20;

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Makes the reader of a service profile, and compiles its expressions once. The reader reads a delivery into at least
 * one row to store: an unreadable event is a row, too, with `event` null. It hides the optional `apiKey` if the service
 * quotes it in a reason.
 */
export function createEventReader(
  { event: shape, idPrefix, signature }: ReceiverShapes,
  { apiKey = '' }: { readonly apiKey?: string } = {},
) {
  const { payload, items } = shape;
  const eventPlaces = [shape.type, shape.invoiceId, shape.reasonCode, shape.reasonMessage];
  const headersDecide = headersOf([payload?.at ?? null, items, ...eventPlaces]) !== null;
  const rowsOf = rowMaker(shape, { idPrefix, apiKey }, headersDecide);
  const evaluatePayload = compileExpressions([payload?.at ?? null]);
  const evaluateItems = compileExpressions([items]);
  const evaluateEvent = compileExpressions([...eventPlaces, shape.eventId]);
  const hasExpressions = [...eventPlaces, shape.eventId].flat().some((place) => expressionOf(place) !== null);
  // The signature check is over, so the reader removes the headers that prove the sender.
  const hidden = new Set([...SECRET_HEADERS, signature.header.toLowerCase()]);
  const readsHeaders = headersOf([payload?.at ?? null, items, ...eventPlaces, shape.eventId]) !== null;

  return async (delivery: ProvenDelivery): Promise<readonly RecordDelivery[]> => {
    const given = documentOf(readsHeaders ? delivery : { ...delivery, rawHeaders: [] }, hidden);
    const outer = payload === null ? given : await evaluatePayload(given);
    const whole = unwrap(outer, shape);
    const found = itemsOf(items === null ? whole : await evaluateItems(whole), shape);
    return rowsOf(delivery, hasExpressions ? await evaluateEach(found, evaluateEvent) : found);
  };
}

const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie'];

/** Makes the document from which places are read. */
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

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

const HEADER = 'header:';

/**
 * Returns the headers that places may read, in lower case; 'all' if an expression may read any header; null if none.
 */
function headersOf(places: readonly (Place | null)[]): ReadonlySet<string> | 'all' | null {
  const list = places.flat().filter((place) => place !== null);
  if (list.some((place) => expressionOf(place)?.includes('$headers'))) return 'all';
  const named = list.filter((place) => place.startsWith(HEADER));
  return named.length === 0 ? null : new Set(named.map((place) => place.slice(HEADER.length).trim().toLowerCase()));
}

const SIGNED_HEADER = /\{header:([^{}]+)\}/g;

/**
 * Tells whether unsigned headers may decide the type or the invoice of an event. If so, a person who has seen one
 * signed delivery can send its body again with other headers.
 */
export function isReadFromUnsignedHeaders({
  event: { payload, items, type, invoiceId },
  signature: { signed, timestamp },
}: Pick<ServiceProfile, 'event' | 'signature'>): boolean {
  const read = headersOf([payload?.at ?? null, items, type, invoiceId]);
  if (read === null || read === 'all') return read === 'all';
  const names = [...signed.matchAll(SIGNED_HEADER)].map(([, name = '']) => name.toLowerCase());
  if (signed.includes('{timestamp}') && timestamp?.startsWith(HEADER) === true)
    names.push(timestamp.slice(HEADER.length).toLowerCase());
  return [...read].some((name) => !names.includes(name));
}

/** One event of a delivery; `index` is null if the whole delivery is one event. */
interface Item {
  readonly document: Document;
  readonly index: number | null;
  /** Absent if the event can be read. */
  readonly unreadable?: true;
}

/** The item of a delivery without a list of 1 to MAX_ITEMS events at the place that the profile names. */
const UNREADABLE: readonly Item[] = [{ document: { body: undefined }, index: null, unreadable: true }];

async function evaluateEach(items: readonly Item[], evaluate: Evaluate): Promise<readonly Item[]> {
  const end = performance.now() + MAX_EVALUATION_MS;
  const read: Item[] = [];
  for (const item of items) {
    // The receiver can answer other deliveries meanwhile.
    // oxlint-disable-next-line no-await-in-loop
    if (read.length % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
    const inTime = performance.now() < end;
    // oxlint-disable-next-line no-await-in-loop
    read.push(inTime ? { ...item, document: await evaluate(item.document) } : { ...item, unreadable: true });
  }
  return read;
}

/** Returns the inner document; its body is undefined if it cannot be read. */
function unwrap(outer: Document, { payload }: EventShape): Document {
  if (payload === null) return outer;
  const found = readPlace(outer, payload.at);
  const text = typeof found === 'string' ? decode(found, payload.encoding) : null;
  const { computed: _ofOuter, text: _outerText, ...rest } = outer;
  return { ...rest, body: text === null ? undefined : parseJson(text), ...(text !== null && { text }) };
}

function decode(found: string, encoding: 'base64' | 'text'): string | null {
  if (encoding === 'text') return found;
  // Node's base64 reads the base64url alphabet, too.
  return BASE64.test(found) ? textOf(Buffer.from(found, 'base64')) : null;
}

function itemsOf(document: Document, { items }: EventShape): readonly Item[] {
  if (items === null) return [{ document, index: null }];
  const list = readPlace(document, items);
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_ITEMS) return UNREADABLE;
  const { computed: _ofList, text: _ofWhole, ...rest } = document;
  return list.map((body: unknown, index) => ({ document: { ...rest, body }, index }));
}

/** Makes the function that makes the rows of a delivery. It hashes the bytes once for all events of the delivery. */
function rowMaker(shape: EventShape, about: Parameters<typeof readEvent>[2], headersDecide: boolean) {
  return ({ raw, receivedAt }: ProvenDelivery, items: readonly Item[]): readonly RecordDelivery[] => {
    const whole = sha256(raw);
    return items.map(({ document, index, unreadable }) => {
      const event = unreadable === true ? null : readEvent(document, shape, about);
      const beside = [
        ...(index === null ? [] : [index]),
        // The same bytes with another header are another event, not a duplicate.
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

/** Returns the JSON of the item, or the whole delivery if the item is nested too deep to be written. */
function jsonOf({ body }: Document, whole: Uint8Array): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch {
    return whole;
  }
}

/** The part of the service profile with the places of a delivery's parts. */
export type EventShape = ServiceProfile['event'];

type Event = NonNullable<RecordDelivery['event']>;

/** Printable ASCII without spaces: Lote stores the word as text, in which PostgreSQL refuses NUL. */
const WORD = /^[\x21-\x7e]{1,200}$/;
/** A type may be a phrase in any language, but without characters that a terminal or PostgreSQL cannot take. */
const TYPE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u;
const LONGEST_CODE = 64;

/**
 * Reads the event of a correctly signed document. Returns null if the document has no type, or has a final type without
 * an invoice id. `idPrefix` is the prefix of every invoice id; the reader hides `apiKey` in the reason.
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

/** Returns the final verdict of a type; null if the type means neither, or both. */
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
