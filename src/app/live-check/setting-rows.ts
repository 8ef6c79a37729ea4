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

/** A setting of the profile beside the value that the service sent. */
export interface LiveRow {
  readonly setting: string;
  /** The place that the profile names, or its other value. */
  readonly place: string;
  /** The received value, shortened and masked. */
  readonly received: string;
  /** `not seen` means that no received data could show the setting. */
  readonly verdict: 'fits' | 'does not fit' | 'not seen';
  /** Other places with a value that would fit. */
  readonly candidates: readonly string[];
}

/** Facts of the check by which values are judged. */
export interface Known {
  readonly nif: string;
  /** Null if no invoice was created. */
  readonly invoiceId: string | null;
  readonly profile: ServiceProfile;
}

/** A text, number, true, false or list in an answer, with its place. */
interface Leaf {
  /** JSON Pointer, or `header:NAME`. */
  readonly place: string;
  /** The last name of the place, in lower case without `_`, `-`, `$`, `@` and `.`. */
  readonly key: string;
  readonly value: unknown;
}

type Fits = (leaf: Leaf, known: Known) => boolean;

const isText = ({ value }: Leaf): boolean => typeof value === 'string' && value !== '';
const isId: Fits = ({ key, value }) => /(?:id|uuid|number|href|self|location)$/.test(key) && readId(value, '') !== null;

/** Tests for values that would suit a setting. A setting without a test here looks for an id. */
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

/** Returns the row of a setting for which `received` came. */
export function row(setting: string, place: Place, received: string, fits: boolean): LiveRow {
  return { setting, place: shownPlace(place), received, verdict: fits ? 'fits' : 'does not fit', candidates: [] };
}

/** Returns the row of a setting that no received data has shown. */
export function unseen(setting: string, place: Place, received = ''): LiveRow {
  return { setting, place: shownPlace(place), received, verdict: 'not seen', candidates: [] };
}

/** Returns the row of a setting that names a place in a document; without a document the setting is not seen. */
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

/** Adds the places among `leaves` whose value would fit to a row that does not fit. */
export function withCandidates(found: LiveRow, leaves: readonly Leaf[], known: Known): LiveRow {
  if (found.verdict === 'fits') return found;
  const suits = CANDIDATES[found.setting] ?? isId;
  const places = leaves.filter((one) => suits(one, known)).map(({ place }) => place);
  return { ...found, candidates: places.slice(0, MOST_CANDIDATES).map(shownPlace) };
}

/** Evaluates the expression of a place, if any, and returns the value there. */
export async function valueAt(document: Document, place: Place): Promise<unknown> {
  const evaluate = compileExpressions([place]);
  return readPlace(evaluate === null ? document : await evaluate(document), place);
}

/** Returns the code of a reason, Lote's or the service's. The message is not shown, because it may quote sent data. */
export function codeOf({ code }: Reason): string {
  return shownWord(code).replaceAll('"', '');
}

/** Shows words for programs; shows any other value, such as an id or a name, only by its kind and length. */
export function shown(setting: string, value: unknown): string {
  const isWord = ['invoice.status', 'error.code', 'event.type'].includes(setting);
  if (isWord && typeof value === 'string' && value !== '') return shownWord(value);
  if (value === undefined || value === null || value === '') return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isPlainObject(value)) return 'an object';
  return `${typeof value === 'string' ? 'a text' : 'a number'} of ${String(JSON.stringify(value)).length} characters`;
}

const DEEPEST = 8;
/** The first items show the form of a list or an object with many similar items. */
const MOST_ITEMS = 100;
/** A longer key, or one with a long number, is data and no field name. */
const FIELD = /^(?!.*\d{6})[\p{L}\p{N}_$@.:[\] -]{1,64}$/u;

/** Returns all values of a JSON document except its objects, those near the top first, down to a fixed depth. */
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
