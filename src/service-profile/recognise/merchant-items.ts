import { isPlainObject } from '../../domain/plain-object.ts';
import type { Document } from '../place.ts';
import { missing, seen, type Recognised } from './finding.ts';
import { idCandidates, placesOfId, prefixOf } from './id-places.ts';
import { jsonataPath, leavesOf, listsOf, type FoundList, type Leaf } from './leaves.ts';
import { isWord, shownId } from './shown.ts';

/** What is known of the merchant that was created. */
export interface KnownMerchant {
  readonly nif: string;
  /** Null: its id was not recognised. */
  readonly id: string | null;
}

const RECORDS =
  /^(?:data|items|results?|entries|records|rows|entities|payload|content|objects|value|merchants|taxpayers|companies)$/;
const BESIDE = /^(?:meta|metadata|pagination|links?|extras|headers|errors?|included|warnings|messages)$/;
const NIF = /nif|vat|tax|fiscal/;
/** With the letters of a country or without. */
const TAX_NUMBER = /^(?:[A-Z]{2}[ -]?)?(\d{5,15})$/;

/** The list of merchants in an answer, which is the one that holds the known merchant, or looks like it; null: there is none. */
export function merchantList(document: Document, known: KnownMerchant): FoundList | null {
  const lists = listsOf(document.body).filter(({ items, key }) => items.every(isPlainObject) && !BESIDE.test(key));
  return (
    lists.find(({ items }) => itemOf(items, known) !== null) ??
    lists.find(({ key, place, items }) => items.length > 0 && (place === '' || RECORDS.test(key))) ??
    lists.find(({ key, place }) => place === '' || RECORDS.test(key)) ??
    null
  );
}

/** Where the merchants, their ids and their tax numbers stand in the list. */
export function recogniseMerchantItems(document: Document, known: KnownMerchant): Recognised {
  const list = merchantList(document, known);
  if (list === null) return [missing('merchants.items', 'the answer holds no list of objects')];
  const own = itemOf(list.items, known);
  const item = own ?? list.items[0];
  const what = own === null ? 'the merchants' : 'the merchant that was created';
  const items = seen('merchants.items', list.place, `a list of ${list.items.length} there, with ${what}`);
  if (item === undefined)
    return [missing('merchants.items', 'the list is empty, so that nothing shows its merchants: probe once more')];
  return [items, ...recogniseId(item, known), recogniseNif(item, known, own !== null)];
}

/** The item with this tax number or this id; null: it is not among them. */
function itemOf(items: readonly unknown[], { nif, id }: KnownMerchant): unknown {
  return (
    items.find((body) => leavesOf(body).some(({ value }) => holdsNif(value, nif))) ??
    items.find((body) => id !== null && placesOfId({ body }, id).length > 0) ??
    null
  );
}

function recogniseId(body: unknown, { nif, id }: KnownMerchant): Recognised {
  const [proved] = id === null ? [] : placesOfId({ body }, id);
  const [likely] = idCandidates({ body }, [nif]);
  const found = proved ?? likely;
  if (found === undefined) return [missing('merchants.id', 'no key of an item looks like an id')];
  const how = proved === undefined ? 'by the name of the key' : 'the same id as in the answer to the creation';
  return [
    seen('merchants.id', found.place, `${shownId(found.value)}, ${how}`),
    seen('merchants.idPrefix', prefixOf(found.id, 'mrc_'), `an id is ${shownId(found.value)}`),
  ];
}

function recogniseNif(body: unknown, { nif }: KnownMerchant, own: boolean): Recognised[number] {
  const leaves = leavesOf(body);
  if (!own) return nifOfAnother(leaves);
  const leaf = leaves.find(({ value }) => String(value) === nif) ?? leaves.find(({ value }) => holdsNif(value, nif));
  return leaf === undefined
    ? missing('merchants.nif', 'the tax number of the merchant that was created stands in no item')
    : placeOfNif(leaf, leaves, { nif, evidence: 'the tax number that was sent stands there' });
}

/** The merchant that was created is on another page: the name of the key, or the word beside it, must do. */
function nifOfAnother(leaves: readonly Leaf[]): Recognised[number] {
  const leaf = leaves.find(
    (one) => TAX_NUMBER.test(String(one.value)) && (NIF.test(one.key) || markOf(one, leaves) !== null),
  );
  const nif = TAX_NUMBER.exec(String(leaf?.value ?? ''))?.[1];
  if (leaf === undefined || nif === undefined)
    return missing('merchants.nif', 'no key of an item looks like a tax number; another merchant was looked at');
  return placeOfNif(leaf, leaves, { nif, evidence: 'digits there, by the name of the key; another merchant' });
}

function placeOfNif(
  leaf: Leaf,
  leaves: readonly Leaf[],
  { nif, evidence }: { readonly nif: string; readonly evidence: string },
): Recognised[number] {
  const text = String(leaf.value);
  const before = text.slice(0, text.length - nif.length);
  if (!/^[A-Za-z]{0,4}[ :-]{0,2}$/.test(before))
    return missing('merchants.nif', `the tax number stands inside a text at ${leaf.place}: write an expression`);
  if (before === '') return seen('merchants.nif', filteredPlace(leaf, leaves), evidence);
  const place = `jsonata:$substringAfter(${jsonataPath(leaf.steps)}, ${JSON.stringify(before)})`;
  return seen('merchants.nif', place, `${evidence} after ${JSON.stringify(before)}`);
}

/** In a list of alike objects the position says nothing: the word beside the number does. */
function filteredPlace(leaf: Leaf, leaves: readonly Leaf[]): string {
  const mark = markOf(leaf, leaves);
  if (mark === null) return leaf.place;
  const { steps } = leaf;
  const list = jsonataPath(steps.slice(0, -2));
  const filter = `${jsonataPath(mark.steps.slice(-1))} = ${JSON.stringify(mark.value)}`;
  return `jsonata:${list}[${filter}].${jsonataPath(steps.slice(-1))}`;
}

/** In an item of a list, the word beside a value that says what it is; null: there is none. */
function markOf({ steps, place }: Leaf, leaves: readonly Leaf[]): Leaf | null {
  if (typeof steps.at(-2) !== 'number') return null;
  const within = JSON.stringify(steps.slice(0, -1));
  const mark = leaves.find(
    (one) =>
      one.place !== place &&
      JSON.stringify(one.steps.slice(0, -1)) === within &&
      typeof one.value === 'string' &&
      isWord(one.value) &&
      NIF.test(one.value.toLowerCase()),
  );
  return mark ?? null;
}

function holdsNif(value: Leaf['value'], nif: string): boolean {
  return (typeof value === 'string' && value.length <= 40 && value.endsWith(nif)) || String(value) === nif;
}
