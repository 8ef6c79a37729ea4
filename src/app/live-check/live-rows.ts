import type { Reason } from '../../domain/invoice.ts';
import { isPlainObject, memberPointer } from '../../domain/json-pointer.ts';
import { shownWord } from '../../domain/profile-misfit.ts';
import type {
  CreateAnswer,
  MerchantAnswer,
  MerchantListAnswer,
  StatusAnswer,
} from '../../domain/records/service-answers.ts';
import type { RecordDelivery } from '../../ledger/webhooks/deliveries.ts';
import { compileExpressions } from '../../service/profile/expression.ts';
import {
  is2xx,
  isOneOf,
  readId,
  readPlace,
  shownPlace,
  wordAt,
  type Document,
  type Place,
} from '../../service/profile/place.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { SignatureRefusal } from '../../webhooks/request-head.ts';

/** Code of a list that has more pages than are read. */
export const LIST_CUT = 'list-has-more-pages';

/** A delivery with what Lote makes of it. */
export interface JudgedDelivery {
  readonly body: unknown;
  readonly headerNames: readonly string[];
  readonly refusal: SignatureRefusal | null;
  readonly events: readonly RecordDelivery['event'][];
}

/** What the service was asked, as Lote reads it and as it came; null: no answer came. */
export interface Asked<Answer> {
  readonly answer: Answer;
  readonly document: Document | null;
}

/** Everything that the service answered, and how Lote reads it with the profile. Null: it was not asked. */
export interface LiveRecord {
  readonly profile: ServiceProfile;
  readonly nif: string;
  /** After a merchant was created, if one was. */
  readonly list: Asked<MerchantListAnswer>;
  readonly merchant: Asked<MerchantAnswer> | null;
  readonly registration: Document | null;
  readonly invoice: Asked<CreateAnswer> | null;
  readonly status: Asked<StatusAnswer> | null;
  /** The answer about an invoice that does not exist. */
  readonly error: Document | null;
  /** Null: the service could reach no receiver. */
  readonly deliveries: readonly JudgedDelivery[] | null;
}

/** One setting of the profile beside what the service sent. */
export interface LiveRow {
  readonly setting: string;
  /** Where the profile looks, or what it says. */
  readonly place: string;
  /** What was received there, shortened and masked. */
  readonly received: string;
  /** `not seen`: nothing that was received could show it. */
  readonly verdict: 'fits' | 'does not fit' | 'not seen';
  /** Other places at which something stands that would fit. */
  readonly candidates: readonly string[];
}

/** What is known of this check, to judge what stands somewhere. */
interface Known {
  readonly nif: string;
  readonly invoiceId: string | null;
  readonly profile: ServiceProfile;
}

type Fits = (leaf: Leaf, known: Known) => boolean;

const isText = ({ value }: Leaf): boolean => typeof value === 'string' && value !== '';
const isId: Fits = ({ key, value }) => /(?:id|uuid|number|href|self|location)$/.test(key) && readId(value, '') !== null;

/** The one table of candidate places: which values of an answer would suit a setting. Others look for an id. */
const CANDIDATES: Readonly<Record<string, Fits>> = {
  'merchants.items': ({ value }) => Array.isArray(value),
  'merchants.nif': ({ value, key }, { nif }) => wordAt(value) === nif || /nif|tax|vat|fiscal/.test(key),
  'webhook.secret': (leaf) => isText(leaf) && /secret|key|token/.test(leaf.key),
  'invoice.status': ({ value, key }, { profile: { invoice } }) =>
    isOneOf(value, [...invoice.issued, ...invoice.failed]) || /status|state/.test(key),
  'error.code': (leaf) => isText(leaf) && /code|type|reason|error$/.test(leaf.key),
  'error.message': (leaf) => isText(leaf) && /message|detail|description|title/.test(leaf.key),
  'event.type': ({ value, key }, { profile: { event } }) =>
    isOneOf(value, [...event.issued, ...event.failed]) || /type|event|topic/.test(key),
  'event.invoiceId': ({ value }, { invoiceId }) => invoiceId !== null && readId(value, '') === invoiceId,
  'event.eventId': ({ key, value }, { invoiceId }) =>
    key.endsWith('id') && readId(value, '') !== null && readId(value, '') !== invoiceId,
};
const MOST_CANDIDATES = 3;

/** Compares each setting that an answer or a delivery can show with what was received. */
export async function liveRows(record: LiveRecord): Promise<readonly LiveRow[]> {
  const { profile, nif, invoice } = record;
  const invoiceId = invoice?.answer.kind === 'created' ? invoice.answer.serviceId : null;
  const known: Known = { nif, invoiceId, profile };
  return [
    ...(await listRows(record, known)),
    ...(await creationRows(record, known)),
    ...(await statusRows(record, known)),
    ...(await errorRows(record, known)),
    ...deliveryRows(record, known),
  ];
}

async function listRows({ profile, list, merchant }: LiveRecord, known: Known): Promise<readonly LiveRow[]> {
  const { merchants, requests } = profile;
  const { answer, document } = list;
  if (document === null) return [unseen('merchants.items', merchants.items)];
  const isOwn = (value: unknown): boolean => wordAt(value) === known.nif;
  const isCut = answer.kind === 'unreadable' && answer.reason.code === LIST_CUT;
  const wasCreated = merchant?.answer.kind === 'created';
  const isMissing = answer.kind === 'list' && wasCreated && !answer.merchants.some(({ nif }) => isOwn(nif));
  const count = answer.kind === 'list' ? `${answer.merchants.length} merchants` : codeOf(answer.reason);
  const says = isMissing ? `${count}, not the new one` : count;
  const isRead = answer.kind === 'list' && !isMissing;
  const path = row('requests.listMerchants.path', requests.listMerchants.path, says, isRead);
  const items = await at(document, merchants.items);
  const entries: readonly unknown[] = Array.isArray(items) ? items : [];
  const own = entries.find((item) => leavesOf(item).some(({ value }) => isOwn(value)));
  const item = entries.length === 0 ? null : { body: own ?? entries[0] };
  const isNif = (value: unknown): boolean => (own === undefined ? wordAt(value) !== null : isOwn(value));
  return [
    isCut ? { ...path, verdict: 'not seen' } : path,
    await placeRow('merchants.items', merchants.items, { document, known, fits: Array.isArray }),
    await placeRow('merchants.id', merchants.id, { document: item, known, fits: isIdWith(merchants.idPrefix) }),
    await placeRow('merchants.nif', merchants.nif, { document: item, known, fits: isNif }),
  ];
}

async function creationRows({ profile, merchant, registration, invoice }: LiveRecord, known: Known) {
  const { merchants, webhook, signature, requests } = profile;
  const isSecret = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const showsSecret = registration !== null && (signature.kind === 'hmac' || signature.kind === 'token');
  const judged = { document: registration, known, fits: isSecret };
  const created = async (asked: Asked<MerchantAnswer | CreateAnswer>, setting: string, where: CreatedId) => {
    const { answer, document } = asked;
    const says = 'reason' in answer ? `${answer.kind}: ${codeOf(answer.reason)}` : answer.kind;
    const creation = row(`requests.${where.request}`, requests[where.request].path, says, answer.kind === 'created');
    if (document === null || !is2xx(document)) return [creation];
    return [creation, await placeRow(setting, where.id, { document, known, fits: isIdWith(where.idPrefix) })];
  };
  const ofMerchant = { request: 'createMerchant', id: merchants.createdId, idPrefix: merchants.idPrefix } as const;
  const ofInvoice = { ...profile.invoice, request: 'createInvoice' } as const;
  return [
    ...(merchant === null ? [] : await created(merchant, 'merchants.createdId', ofMerchant)),
    ...(showsSecret ? [await placeRow('webhook.secret', webhook.secret, judged)] : []),
    ...(invoice === null
      ? [unseen('invoice.id', profile.invoice.id)]
      : await created(invoice, 'invoice.id', ofInvoice)),
  ];
}

interface CreatedId {
  readonly request: 'createMerchant' | 'createInvoice';
  readonly id: Place;
  readonly idPrefix: string;
}

async function statusRows({ profile: { invoice, requests }, status }: LiveRecord, known: Known) {
  if (status === null) return [unseen('invoice.status', invoice.status)];
  const { answer, document } = status;
  const { path } = requests.getInvoice;
  if (answer.kind === 'not-now' || document === null || !is2xx(document)) {
    const says = answer.reason === null ? `status ${document?.status ?? 'none'}` : codeOf(answer.reason);
    return [row('requests.getInvoice.path', path, says, false), unseen('invoice.status', invoice.status)];
  }
  const isOwn = (value: unknown): boolean => readId(value, invoice.idPrefix) === known.invoiceId;
  const isIssued = (value: unknown): boolean => isOneOf(value, invoice.issued);
  return [
    row('requests.getInvoice.path', path, `status ${document.status ?? ''}`, true),
    await placeRow('invoice.id (GET)', invoice.id, { document, known, fits: isOwn }),
    await placeRow('invoice.status', invoice.status, { document, known, fits: isIssued }),
  ];
}

async function errorRows({ profile, error, merchant, invoice }: LiveRecord, known: Known) {
  const answers = [error, invoice?.document, merchant?.document];
  const document = answers.find((one) => one?.body !== undefined && !is2xx(one)) ?? null;
  const judged = { document, known, fits: (value: unknown): boolean => wordAt(value) !== null };
  return [
    await placeRow('error.code', profile.error.code, judged),
    await placeRow('error.message', profile.error.message, judged),
  ];
}

function deliveryRows({ profile, deliveries }: LiveRecord, known: Known): readonly LiveRow[] {
  const { signature, event } = profile;
  const scheme = signature.kind === 'hmac' ? `${signature.algorithm} ${signature.encoding} of ${signature.signed}` : '';
  const where = `${signature.header} ${scheme}`.trim();
  const isAboutIt = (one: RecordDelivery['event']): boolean => one?.serviceId === known.invoiceId;
  const best = deliveries?.find(({ events }) => events.some(isAboutIt)) ?? deliveries?.[0];
  if (best === undefined) {
    const received = deliveries === null ? 'no receiver: name --webhook-url' : 'no delivery came';
    const settings = ['type', 'invoiceId', 'eventId'] as const;
    const nothing = settings.map((part) => unseen(`event.${part}`, event[part]));
    return [{ ...unseen('signature', where), received }, ...nothing];
  }
  const read = best.events.find(isAboutIt) ?? best.events[0] ?? null;
  const leaves = leavesOf(best.body);
  const signed = row('signature', where, best.refusal ?? 'it holds', best.refusal === null);
  const signatures = best.headerNames.filter((name) => /sign|hmac|digest|token/.test(name));
  const from = (part: 'type' | 'invoiceId' | 'eventId', value: unknown, fits: boolean): LiveRow =>
    withCandidates(row(`event.${part}`, event[part], shown(`event.${part}`, value), fits), leaves, known);
  return [
    { ...signed, candidates: best.refusal === null ? [] : signatures.slice(0, MOST_CANDIDATES) },
    from('type', read?.type, read !== null && read.verdict !== null),
    from('invoiceId', read?.serviceId, read !== null && isAboutIt(read)),
    from('eventId', read?.eventId, (read?.eventId ?? null) !== null),
  ];
}

interface Judged {
  /** Null: none was received. */
  readonly document: Document | null;
  readonly fits: (value: unknown) => boolean;
  readonly known: Known;
}

async function placeRow(setting: string, place: Place, { document, fits, known }: Judged): Promise<LiveRow> {
  if (document === null) return unseen(setting, place);
  const value = await at(document, place);
  const { location } = document.headers ?? {};
  const ofHeader = typeof location === 'string' ? [{ place: 'header:Location', key: 'location', value: location }] : [];
  const leaves = [...leavesOf(document.body), ...ofHeader];
  return withCandidates(row(setting, place, shown(setting, value), fits(value)), leaves, known);
}

function withCandidates(found: LiveRow, leaves: readonly Leaf[], known: Known): LiveRow {
  if (found.verdict === 'fits') return found;
  const suits = CANDIDATES[found.setting] ?? isId;
  const places = leaves.filter((one) => suits(one, known)).map(({ place }) => place);
  return { ...found, candidates: places.slice(0, MOST_CANDIDATES).map(shownPlace) };
}

function isIdWith(prefix: string): (value: unknown) => boolean {
  return (value) => readId(value, prefix) !== null;
}

async function at(document: Document, place: Place): Promise<unknown> {
  const evaluate = compileExpressions([place]);
  return readPlace(evaluate === null ? document : await evaluate(document), place);
}

function row(setting: string, place: Place, received: string, fits: boolean): LiveRow {
  return { setting, place: shownPlace(place), received, verdict: fits ? 'fits' : 'does not fit', candidates: [] };
}

function unseen(setting: string, place: Place): LiveRow {
  return { setting, place: shownPlace(place), received: '', verdict: 'not seen', candidates: [] };
}

/** The message may quote what was sent; the code is Lote's or a word of the service. */
function codeOf({ code }: Reason): string {
  return shownWord(code).replaceAll('"', '');
}

/** Words for programs are shown; of everything else, such as an id or a name, the kind and length. */
function shown(setting: string, value: unknown): string {
  const isWord = ['invoice.status', 'error.code', 'event.type'].includes(setting);
  return isWord && typeof value === 'string' && value !== '' ? shownWord(value) : shape(value);
}

function shape(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isPlainObject(value)) return 'an object';
  return `${typeof value === 'string' ? 'a text' : 'a number'} of ${String(JSON.stringify(value)).length} characters`;
}

/** A text, number, true, false or list in an answer, with its place. */
interface Leaf {
  /** JSON Pointer, or `header:NAME`. */
  readonly place: string;
  /** The last name in lower case without `_`, `-`, `$`, `@` and `.`. */
  readonly key: string;
  readonly value: unknown;
}

const DEEPEST = 8;
/** Of an object or a list of many alike, the first show the form. */
const MOST_ITEMS = 100;
/** A key that is longer, or holds a long number, is a datum and no name of a field. */
const FIELD = /^(?!.*\d{6})[\p{L}\p{N}_$@.:[\] -]{1,64}$/u;

/** Everything in a JSON document but its objects, what stands near the top first; bounded in depth. */
function leavesOf(body: unknown): readonly Leaf[] {
  const depth = ({ place }: Leaf): number => place.split('/').length;
  return [...leavesBelow(body, '', '')].toSorted((one, other) => depth(one) - depth(other));
}

function* leavesBelow(value: unknown, place: string, name: string): Generator<Leaf> {
  const isList = Array.isArray(value);
  if (value === null || value === undefined || place.split('/').length > DEEPEST) return;
  if (isList || typeof value !== 'object') yield { place, key: name.toLowerCase().replaceAll(/[_\-$@.]/g, ''), value };
  if (typeof value !== 'object') return;
  for (const [step, one] of Object.entries(value).slice(0, MOST_ITEMS))
    if (isList || FIELD.test(step)) yield* leavesBelow(one, memberPointer(place, step), isList ? name : step);
}
