import { z } from 'zod';
import { isPlainObject } from '../../domain/json-pointer.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import { ServiceProfile } from './profile.ts';

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

let generatedOnce: JsonSchema | null = null;

/** Returns the JSON Schema (draft 7, which editors know best) of a profile's file. Keys of sections are optional. */
export function profileJsonSchema(): JsonSchema {
  return (generatedOnce ??= generatedSchema());
}

function generatedSchema(): JsonSchema {
  const { $schema, ...generated } = z.toJSONSchema(ServiceProfile, { io: 'input', target: 'draft-7' });
  const { properties, ...top } = without(partial(generated, DEFAULT_PROFILE), 'definitions');
  return {
    $schema,
    title: 'Service profile of Lote',
    description:
      'How an invoicing service speaks, where its interface document leaves it open; what is left out keeps its default.',
    ...top,
    properties: { $schema: { type: 'string', description: 'For editors; Lote ignores it' }, ...(properties as object) },
  };
}

/** Returns the schema as printed and published. */
export function schemaText(): string {
  return `${JSON.stringify(profileJsonSchema(), null, 2)}\n`;
}

/** Returns the path of each key of a profile with its schema; `[]` stands for each entry of a list. */
export function keyPaths(schema: JsonSchema, above: readonly string[] = []): ReadonlyMap<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const { items } = withKeys(schema);
  if (isPlainObject(items) && above.length > 0) {
    const [last = '', ...before] = above.toReversed();
    for (const [path, one] of keyPaths(items, [...before.toReversed(), `${last}[]`])) found.set(path, one);
  }
  for (const [key, below] of Object.entries(propertiesOf(withKeys(schema)))) {
    if (!isPlainObject(below)) continue;
    found.set([...above, key].join('.'), below);
    for (const [path, one] of keyPaths(below, [...above, key])) found.set(path, one);
  }
  return found;
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, unknown>> {
  const properties = schema['properties'];
  return isPlainObject(properties) ? properties : {};
}

/** Returns the first alternative of a schema that has keys or entries. */
function withKeys(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return schema;
  return (
    (anyOf as readonly unknown[]).filter(isPlainObject).find((one) => 'properties' in one || 'items' in one) ?? schema
  );
}

/** Makes the keys of sections optional: Lote merges sections key by key with the default, and replaces other values. */
function partial(schema: JsonSchema, byDefault: unknown): JsonSchema {
  const { properties } = schema;
  if (!isPlainObject(byDefault) || !isPlainObject(properties)) return { ...anyJson(schema), default: byDefault };
  const below = Object.entries(properties).map(([key, one]) => [key, partial(one as JsonSchema, byDefault[key])]);
  return { ...without(schema, 'required'), properties: Object.fromEntries(below) };
}

/** Shortens a schema that refers to "any JSON": it allows everything, and its definition has thirty lines. */
function anyJson(schema: JsonSchema): JsonSchema {
  return JSON.stringify(schema['anyOf'] ?? null).includes('"$ref"') ? without(schema, 'anyOf') : schema;
}

function without(schema: JsonSchema, key: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([one]) => one !== key));
}

/** One setting of a profile that Lote merges as a whole: a value, a list or an object that is empty by default. */
export interface Setting {
  /** The path, for example `signature.header`. */
  readonly key: string;
  /** The description, in English with Markdown's backticks, as in the table of keys in docs/service-profile.md. */
  readonly words: string;
  /** The value in force, without texts that may be secret. */
  readonly value: unknown;
  readonly default: unknown;
  readonly differs: boolean;
}

/** Returns every setting of a profile with its description, in the order of the schema. */
export function settingsOf(profile: ServiceProfile): readonly Setting[] {
  const schema = keyPaths(profileJsonSchema());
  return keysBelow(DEFAULT_PROFILE, []).map((path) => {
    const [value, byDefault] = [settingAt(profile, path), settingAt(DEFAULT_PROFILE, path)];
    const key = path.join('.');
    const description = schema.get(key)?.['description'];
    const words = typeof description === 'string' ? description : '';
    const differs = JSON.stringify(value) !== JSON.stringify(byDefault);
    return { key, words, value: shownSetting(value, path), default: byDefault, differs };
  });
}

function settingAt(profile: ServiceProfile, path: readonly string[]): unknown {
  return path.reduce<unknown>((here, step) => (isPlainObject(here) ? here[step] : undefined), profile);
}

function keysBelow(value: Readonly<Record<string, unknown>>, above: readonly string[]): readonly (readonly string[])[] {
  return Object.entries(value).flatMap(([name, one]) =>
    isPlainObject(one) && Object.keys(one).length > 0 ? keysBelow(one, [...above, name]) : [[...above, name]],
  );
}

/** Texts at these places may be secret. */
const SECRET_PLACE = /^requests\.(?:headers|\w+\.body)(?:\.|$)/;
const SECRET_TEXT = /^(?:sk_|pk_|whsec_|bearer |basic )/i;

/** Hides the texts of a setting that may be secret. Placeholders of a template stay. */
function shownSetting(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => shownSetting(one, path));
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shownSetting(one, [...path, key])]));
  if (typeof value !== 'string') return value;
  const place = path.join('.');
  // The prefix of a secret, such as `whsec_`, is not secret itself.
  const isSecret = SECRET_PLACE.test(place) || (SECRET_TEXT.test(value) && !place.startsWith('signature.secret.'));
  return isSecret && !/^\{[^{}]*\}$/.test(value) ? '(not shown)' : value;
}
