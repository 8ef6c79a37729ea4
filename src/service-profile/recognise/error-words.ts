import { isPlainObject } from '../../domain/plain-object.ts';
import type { Document } from '../place.ts';
import { jsonataPath, leavesOf, pointerOf, type Leaf } from './leaves.ts';
import { isWord } from './shown.ts';

/** A place of an error, and what stands there. */
export interface ErrorPlace {
  readonly place: string;
  readonly value: string;
  /** By the names of keys: more is likelier. */
  readonly score: number;
}

const CODE_KEYS: readonly (readonly [RegExp, number])[] = [
  [/^(?:code|errorcode|errcode)$/, 100],
  [/^(?:reason|reasoncode)$/, 90],
  [/^error$/, 85],
  [/^(?:type|errortype)$/, 70],
  [/^(?:name|title|kind|status|category)$/, 50],
];
const MESSAGE_KEYS: readonly (readonly [RegExp, number])[] = [
  [/^(?:message|errormessage|msg)$/, 100],
  [/^(?:detail|details)$/, 95],
  [/^(?:description|errordescription)$/, 90],
  [/^(?:text|reasontext|statetext|reason|explanation)$/, 80],
  [/^(?:error|title)$/, 60],
];
/** Errors by the field that is wrong: `{"errors": {"nif": ["…"]}}`. */
const FIELD_ERRORS = /^(?:errors|error|violations|fields)$/;
const TEXT_CODE = '^([A-Za-z]+[_-]?[0-9]+|[A-Z]+(?:_[A-Z0-9]+)+)[ :]';

/** Where a word for programs stands in an error, the likeliest first. */
export function codePlaces(document: Document): readonly ErrorPlace[] {
  const { text, status } = document;
  const found = firstItems(document).flatMap((leaf): readonly ErrorPlace[] => {
    const value = String(leaf.value);
    if (typeof leaf.value === 'boolean' || leaf.value === null || value === '' || value === String(status)) return [];
    return isWord(value) ? scored(leaf, CODE_KEYS) : [];
  });
  const [fields, field] = fieldErrors(document) ?? [];
  if (fields !== undefined && field !== undefined)
    found.push({ place: `jsonata:$keys(${fields})[0]`, value: field, score: 65 });
  const code = new RegExp(TEXT_CODE).exec(text ?? '')?.[1];
  if (code !== undefined)
    found.push({ place: `jsonata:$match($text, /${TEXT_CODE}/).groups[0]`, value: code, score: 40 });
  return found.toSorted((one, other) => other.score - one.score);
}

/** Where a sentence for people stands in an error, the likeliest first. */
export function messagePlaces(document: Document): readonly ErrorPlace[] {
  const found = firstItems(document).flatMap((leaf) =>
    typeof leaf.value === 'string' && leaf.value !== '' ? scored(leaf, MESSAGE_KEYS) : [],
  );
  const [fields] = fieldErrors(document) ?? [];
  if (fields !== undefined) found.push({ place: `jsonata:$string(${fields})`, value: '', score: 30 });
  if (document.text !== undefined && document.text !== '')
    found.push({ place: 'text', value: document.text, score: 20 });
  return found.toSorted((one, other) => other.score - one.score);
}

/** Of lists, the first item alone: errors beside it are more of the same. */
function firstItems({ body }: Document): readonly Leaf[] {
  return leavesOf(body).filter(({ steps }) => steps.every((step) => typeof step !== 'number' || step === 0));
}

function scored(leaf: Leaf, keys: readonly (readonly [RegExp, number])[]): ErrorPlace[] {
  const score = keys.find(([pattern]) => pattern.test(leaf.key))?.[1];
  if (score === undefined) return [];
  return [{ place: pointerOf(leaf.steps), value: String(leaf.value), score: score - leaf.steps.length }];
}

function fieldErrors({ body }: Document): readonly [path: string, field: string] | null {
  if (!isPlainObject(body)) return null;
  const found = Object.entries(body).find(
    ([key, value]) =>
      FIELD_ERRORS.test(key) &&
      isPlainObject(value) &&
      Object.values(value).length > 0 &&
      Object.values(value).every((one) => Array.isArray(one) && one.every((text) => typeof text === 'string')),
  );
  if (found === undefined) return null;
  const [field = ''] = Object.keys(found[1] as object);
  return isWord(field) ? [jsonataPath([found[0]]), field] : null;
}
