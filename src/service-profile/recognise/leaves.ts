import { isPlainObject } from '../../domain/plain-object.ts';
import type { Document } from '../place.ts';

/** A text, number, true, false or null in an answer, with its place. */
export interface Leaf {
  /** JSON Pointer, or `header:NAME`. */
  readonly place: string;
  readonly steps: readonly (string | number)[];
  /** The last key in lower case without `_`, `-`, `$`, `@` and `.`; of a list item, that of the list. */
  readonly key: string;
  readonly value: string | number | boolean | null;
}

/** A list of an answer, with its place. */
export interface FoundList {
  readonly place: string;
  readonly key: string;
  readonly depth: number;
  readonly items: readonly unknown[];
}

const DEEPEST = 8;
const MOST_NODES = 3_000;
/** Of a list of many alike, the first show the form. */
const MOST_ITEMS = 20;
/** A key that is longer, or holds a long number, is a datum and no name of a field. */
const FIELD = /^(?!.*\d{6})[\p{L}\p{N}_$@.:[\] -]{1,64}$/u;

/** Everything in a JSON document that is no object and no list; bounded in depth and number. */
export function leavesOf(body: unknown): readonly Leaf[] {
  const leaves: Leaf[] = [];
  for (const { steps, value } of nodesOf(body)) {
    if (typeof value === 'object' && value !== null) continue;
    if (!['string', 'number', 'boolean'].includes(typeof value) && value !== null) continue;
    leaves.push({ place: pointerOf(steps), steps, key: keyOf(steps), value: value as Leaf['value'] });
  }
  return leaves;
}

/** The lists in a JSON document, the least deep first. */
export function listsOf(body: unknown): readonly FoundList[] {
  const lists: FoundList[] = [];
  for (const { steps, value } of nodesOf(body)) {
    if (!Array.isArray(value) || steps.some((step) => typeof step === 'number')) continue;
    lists.push({ place: pointerOf(steps), key: keyOf(steps), depth: steps.length, items: value });
  }
  return lists.toSorted((one, other) => one.depth - other.depth);
}

/** The headers of an answer as leaves. */
export function headerLeaves({ headers = {} }: Document): readonly Leaf[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = [value ?? []].flat().join(', ');
    return FIELD.test(name) ? [{ place: `header:${name}`, steps: [name], key: plainKey(name), value: text }] : [];
  });
}

/** A key without what services write differently: case, `_`, `-`, `$`, `@` and `.`. */
export function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[_\-$@.]/g, '');
}

/** A JSON Pointer (RFC 6901). */
export function pointerOf(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The same path in a JSONata expression. */
export function jsonataPath(steps: readonly (string | number)[]): string {
  const parts = steps.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(step) ? `.${step}` : `.\`${step}\``;
  });
  return parts.join('').replace(/^\./, '');
}

interface FoundNode {
  readonly steps: readonly (string | number)[];
  readonly value: unknown;
}

function* nodesOf(body: unknown): Generator<FoundNode> {
  const waiting: FoundNode[] = [{ steps: [], value: body }];
  for (let seen = 0; seen < MOST_NODES; seen += 1) {
    const node = waiting.shift();
    if (node === undefined) return;
    yield node;
    if (node.steps.length < DEEPEST) waiting.push(...below(node));
  }
}

function below({ steps, value }: FoundNode): readonly FoundNode[] {
  if (Array.isArray(value))
    return value.slice(0, MOST_ITEMS).map((item: unknown, index) => ({ steps: [...steps, index], value: item }));
  if (!isPlainObject(value)) return [];
  return Object.entries(value)
    .slice(0, MOST_NODES)
    .filter(([key]) => FIELD.test(key))
    .map(([key, one]) => ({ steps: [...steps, key], value: one }));
}

function keyOf(steps: readonly (string | number)[]): string {
  return plainKey(String(steps.findLast((step) => typeof step === 'string') ?? ''));
}
