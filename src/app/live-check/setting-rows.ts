import type { Reason } from '../../domain/invoice.ts';
import { isPlainObject, memberPointer } from '../../domain/json-pointer.ts';
import { shownWord } from '../../domain/profile-misfit.ts';
import { compileExpressions } from '../../service/profile/expression.ts';
import { readPlace, shownPlace, type Document, type Place } from '../../service/profile/place.ts';

/** A setting of the profile beside the value that the service sent. */
export interface LiveRow {
  readonly setting: string;
  /** The place that the profile names, or its other value. */
  readonly place: string;
  /** The received value, shortened and masked. */
  readonly received: string;
  /** `not seen` means that no received data could show the setting. */
  readonly verdict: 'fits' | 'does not fit' | 'not seen';
  /** Of a setting that does not fit: the places at which the answer has a value. */
  readonly places: readonly string[];
}

const MOST_PLACES = 12;

/** Returns the row of a setting for which `received` came. */
export function row(setting: string, place: Place, received: string, fits: boolean): LiveRow {
  return { setting, place: shownPlace(place), received, verdict: fits ? 'fits' : 'does not fit', places: [] };
}

/** Returns the row of a setting that no received data has shown. */
export function unseen(setting: string, place: Place, received = ''): LiveRow {
  return { setting, place: shownPlace(place), received, verdict: 'not seen', places: [] };
}

/** Returns the row of a setting that names a place in a document; without a document the setting is not seen. */
export async function placeRow(
  [setting, place]: readonly [setting: string, place: Place],
  document: Document | null,
  fits: (value: unknown) => boolean,
): Promise<LiveRow> {
  if (document === null) return unseen(setting, place);
  const value = await valueAt(document, place);
  const found = row(setting, place, shown(setting, value), fits(value));
  const ofHeader = document.headers?.['location'] === undefined ? [] : ['header:Location'];
  return withPlaces(found, [...placesOf(document.body), ...ofHeader]);
}

/** Adds the places that have a value to a row that does not fit. */
export function withPlaces(found: LiveRow, places: readonly string[]): LiveRow {
  return found.verdict === 'fits' ? found : { ...found, places: places.slice(0, MOST_PLACES).map(shownPlace) };
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

/** Returns the places of all values of a JSON document except its objects, those near the top first, down to a fixed depth. */
export function placesOf(body: unknown): readonly string[] {
  const depth = (place: string): number => place.split('/').length;
  return [...valuesBelow(body, '')].map(([place]) => place).toSorted((one, other) => depth(one) - depth(other));
}

/** Returns true if a value of the document passes the test. */
export function hasValue(body: unknown, fits: (value: unknown) => boolean): boolean {
  return [...valuesBelow(body, '')].some(([, value]) => fits(value));
}

function* valuesBelow(value: unknown, place: string): Generator<readonly [place: string, value: unknown]> {
  const isList = Array.isArray(value);
  if (value === null || value === undefined || place.split('/').length > DEEPEST) return;
  if (isList || typeof value !== 'object') yield [place, value];
  if (typeof value !== 'object') return;
  for (const [step, one] of Object.entries(value).slice(0, MOST_ITEMS))
    if (isList || FIELD.test(step)) yield* valuesBelow(one, memberPointer(place, step));
}
