import fc from 'fast-check';
import { documentOf, readBody, type AnswerBody, type ExchangeResult } from '../../../src/service/exchange-result.ts';
import type { Evaluate } from '../../../src/service/profile/expression.ts';
import type { ServiceProfile } from '../../../src/service/profile/profile.ts';
import type { Place } from '../../../src/service/profile/place.ts';
import { anyText } from '../any-text.ts';
import jsonata from 'jsonata';

const KEY = 'sk_test_0123456789';

const refusing = [301, 303, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 502, 503];

type Spoilt = 'encoded' | 'oversize' | 'cut-short' | null;

/** A random answer of any service. */
interface AnyAnswer {
  readonly recipe: Recipe;
  readonly status: number;
  readonly spoilt: Spoilt;
}

/** Makes the answer for the code under test, and the same answer as the test reads it. */
export function answered(
  { recipe, status: http, spoilt: why }: AnyAnswer,
  fillings: readonly Filling[],
): { end: Answer; came: Came } {
  const { bytes, headers } = made(recipe, fillings);
  const body: AnswerBody = why === null ? readBody(bytes, KEY) : { kind: 'unreadable', why };
  const end: Answer = { kind: 'answer', status: http, retryAfterMs: null, body, headers };
  if (why !== null) return { end, came: { body: undefined, headers: {}, status: http } };
  return { end, came: { ...read(bytes), headers, status: http } };
}

/** An exchange that got a status line. */
type Answer = Extract<ExchangeResult, { kind: 'answer' }>;

/** Parses JSON; a whole number that a double cannot hold becomes a text with all its digits. */
export function exactly(text: string): unknown {
  return JSON.parse(text.replaceAll(/(?<=[[:,]\s*)\d{17,}(?=\s*[,}\]])/g, '"$&"')) as unknown;
}

function read(bytes: Uint8Array): Pick<Came, 'body' | 'text'> {
  const text = Buffer.from(bytes).toString();
  try {
    return { body: exactly(text) };
  } catch {
    return { body: undefined, text: text === '' || text.trimStart().startsWith('<') ? undefined : text };
  }
}

/** Evaluates the expressions of a profile over an answer, as the client does. */
export async function evaluated(end: Answer, evaluate: Evaluate | null): Promise<Answer> {
  const computed = evaluate === null ? undefined : (await evaluate(documentOf(end))).computed;
  return computed === undefined ? end : { ...end, computed };
}

const isTaken = ({ status: http = 0 }: Came): boolean => http >= 200 && http <= 299;

/** Tells whether an answer is a success by the profile. */
export async function isSuccess(came: Came, { answers: { success } }: ServiceProfile): Promise<boolean> {
  return isTaken(came) && (success === null || isWordOf(await standsAt(came, success.at), success.is));
}

/** Returns the status of an answer: HTTP's, or the one that an envelope names. */
export async function statusOf(came: Came, profile: ServiceProfile): Promise<number> {
  const { status: http = 0 } = came;
  const place = profile.answers.status;
  if (place === null || (await isSuccess(came, profile))) return http;
  const found = await standsAt(came, place);
  const said = typeof found === 'string' || typeof found === 'number' ? Number(found) : 0;
  return Number.isInteger(said) && said >= 400 && said <= 599 ? said : http;
}

/** Generates answers; `right` as in `anyRecipe`. */
export function anyAnswer(right: number): fc.Arbitrary<AnyAnswer> {
  return fc.record({
    recipe: anyRecipe({ right }),
    status: fc.oneof(
      { arbitrary: fc.constantFrom(200, 201, 202), weight: right },
      { arbitrary: fc.constantFrom(...refusing), weight: 10 - right },
      { arbitrary: fc.integer({ min: 100, max: 599 }), weight: 1 },
    ),
    spoilt: fc.oneof(
      { arbitrary: fc.constant(null), weight: 2 * right },
      { arbitrary: fc.constantFrom('encoded' as const, 'oversize' as const, 'cut-short' as const), weight: 1 },
    ),
  });
}

/** Counts cases by kind, so that a test can fail if its property meets no case. */
export class Tally {
  readonly #seen = new Map<string, number>();

  count(kind: string): void {
    this.#seen.set(kind, this.times(kind) + 1);
  }

  times(kind: string): number {
    return this.#seen.get(kind) ?? 0;
  }
}

/** A place of a profile, and values that belong there. */
export interface Filling {
  readonly place: Place | null;
  readonly right: readonly unknown[];
}

/** The content of a document for any profile: one value for each place of the profile, in order. */
export interface Recipe {
  /** JSON text of the document before its places are filled. */
  readonly around: string;
  readonly slots: readonly Slot[];
  readonly headers: Readonly<Record<string, string>>;
  readonly damage: Damage;
}

/** The content of one place. */
type Slot =
  | { readonly kind: 'right'; readonly which: number }
  | { readonly kind: 'wrong'; readonly value: unknown }
  | { readonly kind: 'nothing' };

type Damage =
  | { readonly kind: 'none' }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'other'; readonly bytes: Uint8Array };

/** JSON that JSON.stringify cannot write, or objects cannot hold. `made` replaces each key, as a text, by its JSON. */
const HOSTILE: Readonly<Record<string, string>> = {
  '@deep': `${'['.repeat(12_000)}1${']'.repeat(12_000)}`,
  '@deep-object': `${'{"next":'.repeat(6_000)}1${'}'.repeat(6_000)}`,
  '@proto': '{"__proto__":{"id":"inv_A1","status":"issued"},"constructor":{"prototype":{"id":"inv_A1"}}}',
  '@no-text': '{"toString":null,"valueOf":1,"toJSON":"x","then":true,"length":1e9}',
  '@links': '[{"rel":{"toString":1,"valueOf":[]},"href":"/v1/x"},{"rel":"next","href":{"next":1}}]',
  '@huge-number': '1e400',
  '@long-number': '123456789012345678901234567890',
};
const KEYS = [
  ...['id', 'data', 'error', 'errors', 'code', 'message', 'status', 'state', 'type', 'result', 'invoice', 'success'],
  ...['next', 'links', 'meta', 'has_more', 'total', 'pages', 'limit', 'count', 'rel', 'name', 'events', 'merchants'],
  ...['__proto__', 'constructor', 'toString', 'valueOf', 'length', 'hasOwnProperty', '', '0', '/', '~', 'then'],
];
const HEADERS = [
  ...['location', 'link', 'retry-after', 'x-total-count', 'x-total', 'x-total-pages', 'x-next-page', 'content-range'],
  ...['content-type', '__proto__', 'constructor', 'x-other'],
];

const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    7,
    '',
    ' ',
    '0',
    'true',
    'issued',
    'failed',
    'ok',
    'inv_',
    '//',
  ),
  fc.constantFrom('/v1/invoices/inv_A1', 'https://x.example/a/..', 'http://', '/a?b=inv_A1', 'inv_A1/../x', 'inv_A1 '),
  fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), anyText({ maxLength: 12 })),
);
const hostile = fc.oneof(
  { arbitrary: fc.constantFrom('@proto', '@no-text', '@links', '@huge-number', '@long-number'), weight: 8 },
  { arbitrary: fc.constantFrom('@deep', '@deep-object', 'x'.repeat(5_000), '9'.repeat(300)), weight: 1 },
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    scalar,
    fc.oneof({ arbitrary: scalar, weight: 6 }, { arbitrary: hostile, weight: 1 }),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('json'), { maxKeys: 4 }),
  ),
}));

/** Generates recipes. Of ten places, `right` hold a right value; the other places hold nothing or any value. */
export function anyRecipe({ right }: { readonly right: number }): fc.Arbitrary<Recipe> {
  const slot: fc.Arbitrary<Slot> = fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('right' as const), which: fc.nat(5) }), weight: right },
    { arbitrary: fc.constant({ kind: 'nothing' as const }), weight: (10 - right) / 2 },
    { arbitrary: fc.record({ kind: fc.constant('wrong' as const), value: json }), weight: (10 - right) / 2 },
  );
  const damage: fc.Arbitrary<Damage> = fc.oneof(
    { arbitrary: fc.constant({ kind: 'none' as const }), weight: 17 },
    { arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.nat(100) }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant('other' as const), bytes: anyBytes }), weight: 2 },
  );
  return fc.record({
    around: fc
      .oneof({ arbitrary: fc.constant<unknown>({}), weight: right }, { arbitrary: json, weight: 10 - right })
      .map((value) => JSON.stringify(value)),
    slots: fc.array(slot, { minLength: 12, maxLength: 12 }),
    headers: fc.oneof(
      { arbitrary: fc.constant({}), weight: right },
      {
        arbitrary: fc.dictionary(
          fc.constantFrom(...HEADERS),
          fc.oneof(scalar.map(String), fc.constant('</v1/x>; rel="next"')),
          {
            maxKeys: 3,
          },
        ),
        weight: 10 - right,
      },
    ),
    damage,
  });
}

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc
    .constantFrom('', '<html>No</html>', 'E101 no such thing', 'ok', '{}', 'null', '[]', '"inv_A1"')
    .map((text) => Buffer.from(text)),
);

/** A document for one profile: its bytes, and its headers by lower-case name. */
interface Made {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Fills the places of a profile by a recipe. */
export function made({ around, slots, headers, damage }: Recipe, fillings: readonly Filling[]): Made {
  let root = JSON.parse(around) as unknown;
  const named: Record<string, string> = { ...headers };
  for (const [index, { place, right }] of fillings.entries()) {
    const slot = slots[index % slots.length] ?? { kind: 'nothing' };
    if (place === null || slot.kind === 'nothing') continue;
    const value = slot.kind === 'right' ? right[slot.which % right.length] : slot.value;
    if (value === undefined) continue;
    const [one = ''] = [place].flat();
    if (one.startsWith('header:')) named[one.slice('header:'.length).trim().toLowerCase()] = printable(value);
    else for (const path of pathsOf(one)) root = put(root, path, value);
  }
  const text = Object.entries(HOSTILE).reduce(
    (said, [name, json]) => said.replaceAll(`"${name}"`, json),
    JSON.stringify(root),
  );
  return { bytes: damaged(text, damage), headers: named };
}

function damaged(text: string, damage: Damage): Uint8Array {
  if (damage.kind === 'other') return damage.bytes;
  const bytes = Buffer.from(text);
  return damage.kind === 'cut' ? bytes.subarray(0, Math.floor((bytes.byteLength * damage.at) / 101)) : bytes;
}

function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[^\x20-\x7e]/g, '?').trim();
}

/** Returns the path of a place; of an expression, each path of names in it, because it may read any of them. */
function pathsOf(place: string): readonly (readonly string[])[] {
  if (place === 'text') return [];
  if (!place.startsWith('jsonata:'))
    return [
      place
        .split('/')
        .slice(1)
        .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')),
    ];
  const names = place.slice('jsonata:'.length).replaceAll(/"[^"]*"|\/\^.*?\/|\$\w+/g, ' ');
  return [...names.matchAll(/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g)].map(([path]) => path.split('.'));
}

/** Puts a value into a document. A list accepts only an index. */
export function put(here: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(here) || (/^\d+$/.test(name) && !isObject(here))) {
    const list: unknown[] = Array.isArray(here) ? Array.from<unknown>(here) : [];
    if (!/^\d$/.test(name)) return here;
    list[Number(name)] = put(list[Number(name)], rest, value);
    return list;
  }
  const object = isObject(here) ? here : {};
  return Object.fromEntries([
    ...Object.entries(object).filter(([key]) => key !== name),
    [name, put(Object.hasOwn(object, name) ? object[name] : undefined, rest, value)],
  ]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An answer as the tests read it. */
export interface Came {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly text?: string | undefined;
  readonly status?: number;
}

const compiled = new Map<string, jsonata.Expression>();

/** Returns the value at a place of a profile, read without the code under test; undefined if there is none. */
export async function standsAt(came: Came, place: Place): Promise<unknown> {
  const places = [place].flat();
  for (const one of places) {
    const found = await standsAtOne(came, one);
    if (places.length === 1 || !isNothing(found)) return found;
  }
  return undefined;
}

/** Tells whether a value is one that services write for "none". */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Tells whether a value is one of some words. */
export function isWordOf(value: unknown, words: readonly string[]): boolean {
  return (
    ['string', 'number', 'boolean'].includes(typeof value) &&
    words.some((word) => word.trim().toLowerCase() === String(value).trim().toLowerCase())
  );
}

/** Tells whether a value is this id, or an address that contains it. */
export function holdsId(value: unknown, id: string, prefix: string): boolean {
  if (!id.startsWith(prefix) || !/^[\w-][\w.~:=@+,-]{0,320}$/.test(id) || id === prefix) return false;
  if (typeof value === 'number') return String(value) === id && value > 0;
  if (typeof value !== 'string') return false;
  return value === id || (/^(?:https?:\/)?\//i.test(value) && value.includes(id));
}

async function standsAtOne({ body, headers, text, status }: Came, place: string): Promise<unknown> {
  if (place === 'text') return text;
  if (place.startsWith('header:')) {
    const name = place.slice('header:'.length).trim().toLowerCase();
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return typeof value === 'object' ? value.join(', ') : value;
  }
  if (!place.startsWith('jsonata:')) return pointedAt(body, place);
  const source = place.slice('jsonata:'.length);
  const expression = compiled.get(source) ?? jsonata(source, { timeout: 250, stack: 200, sequence: 10_000 });
  compiled.set(source, expression);
  try {
    return JSON.parse(JSON.stringify(await expression.evaluate(body, { headers, status, text }))) as unknown;
  } catch {
    return undefined;
  }
}

function pointedAt(body: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((here, escaped) => {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof here === 'object' && here !== null ? Object.getOwnPropertyDescriptor(here, name)?.value : undefined;
  }, body);
}
