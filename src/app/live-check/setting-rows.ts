import type { Reason } from '../../domain/invoice.ts';
import { isPlainObject, memberPointer } from '../../domain/json-pointer.ts';
import { shownWord } from '../../domain/profile-misfit.ts';
import { compileExpressions } from '../../service/profile/expression.ts';
import {
  isOneOf,
  readId,
  readPlace,
  shownPlace,
  wordAt,
  type Document,
  type Place,
} from '../../service/profile/place.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';

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

/** What is known of a check, to judge what stands somewhere. */
export interface Known {
  readonly nif: string;
  /** Null while no invoice was created. */
  readonly invoiceId: string | null;
  readonly profile: ServiceProfile;
}

/** A text, number, true, false or list in an answer, with its place. */
interface Leaf {
  /** JSON Pointer, or `header:NAME`. */
  readonly place: string;
  /** The last name in lower case without `_`, `-`, `$`, `@` and `.`. */
  readonly key: string;
  readonly value: unknown;
}

type Fits = (leaf: Leaf, known: Known) => boolean;

const isText = ({ value }: Leaf): boolean => typeof value === 'string' && value !== '';
const isId: Fits = ({ key, value }) => /(?:id|uuid|number|href|self|location)$/.test(key) && readId(value, '') !== null;

/** Which values of an answer would suit a setting. A setting that is not named here looks for an id. */
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

/** The row of a setting of which `received` came. */
export function row(setting: string, place: Place, received: string, fits: boolean): LiveRow {
  return { setting, place: shownPlace(place), received, verdict: fits ? 'fits' : 'does not fit', candidates: [] };
}

/** The row of a setting that nothing has shown. */
export function unseen(setting: string, place: Place, received = ''): LiveRow {
  return { setting, place: shownPlace(place), received, verdict: 'not seen', candidates: [] };
}

/** The row of a setting that names a place in a document; without a document it was not seen. */
export async function placeRow(
  [setting, place]: readonly [setting: string, place: Place],
  document: Document | null,
  known: Known,
  fits: (value: unknown) => boolean,
): Promise<LiveRow> {
  if (document === null) return unseen(setting, place);
  const value = await valueAt(document, place);
  const { location } = document.headers ?? {};
  const ofHeader = typeof location === 'string' ? [{ place: 'header:Location', key: 'location', value: location }] : [];
  const leaves = [...leavesOf(document.body), ...ofHeader];
  return withCandidates(row(setting, place, shown(setting, value), fits(value)), leaves, known);
}

/** A row that does not fit, with the places among `leaves` at which something would. */
export function withCandidates(found: LiveRow, leaves: readonly Leaf[], known: Known): LiveRow {
  if (found.verdict === 'fits') return found;
  const suits = CANDIDATES[found.setting] ?? isId;
  const places = leaves.filter((one) => suits(one, known)).map(({ place }) => place);
  return { ...found, candidates: places.slice(0, MOST_CANDIDATES).map(shownPlace) };
}

/** What stands at a place, whose expression is evaluated first. */
export async function valueAt(document: Document, place: Place): Promise<unknown> {
  const evaluate = compileExpressions([place]);
  return readPlace(evaluate === null ? document : await evaluate(document), place);
}

/** The code of a reason, which is Lote's or a word of the service; the message may quote what was sent. */
export function codeOf({ code }: Reason): string {
  return shownWord(code).replaceAll('"', '');
}

/** Words for programs are shown; of everything else, such as an id or a name, the kind and length. */
export function shown(setting: string, value: unknown): string {
  const isWord = ['invoice.status', 'error.code', 'event.type'].includes(setting);
  if (isWord && typeof value === 'string' && value !== '') return shownWord(value);
  if (value === undefined || value === null || value === '') return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isPlainObject(value)) return 'an object';
  return `${typeof value === 'string' ? 'a text' : 'a number'} of ${String(JSON.stringify(value)).length} characters`;
}

const DEEPEST = 8;
/** Of an object or a list of many alike, the first show the form. */
const MOST_ITEMS = 100;
/** A key that is longer, or holds a long number, is a datum and no name of a field. */
const FIELD = /^(?!.*\d{6})[\p{L}\p{N}_$@.:[\] -]{1,64}$/u;

/** Everything in a JSON document but its objects, what stands near the top first; bounded in depth. */
export function leavesOf(body: unknown): readonly Leaf[] {
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
