import { z } from 'zod';
import { isPlainObject } from '../../domain/json-pointer.ts';
import { DEFAULT_PROFILE, ServiceProfile } from './profile.ts';

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

let generatedOnce: JsonSchema | null = null;

/** Returns the JSON Schema (draft 7, which editors know best) of a profile's file. Keys of sections are optional. */
export function profileJsonSchema(): JsonSchema {
  return (generatedOnce ??= generatedSchema());
}

function generatedSchema(): JsonSchema {
  const { $schema, properties, ...top } = z.toJSONSchema(ServiceProfile, { io: 'input', target: 'draft-7' });
  return {
    $schema,
    title: 'Service profile of Lote',
    description:
      'How an invoicing service speaks, where its interface document leaves it open; what is left out keeps its default.',
    ...top,
    properties: { $schema: { type: 'string', description: 'For editors; Lote ignores it' }, ...properties },
  };
}

/** Returns the schema as printed and published. */
export function schemaText(): string {
  return `${JSON.stringify(profileJsonSchema(), null, 2)}\n`;
}

/** Returns the path of each key of a profile with its schema; `[]` stands for each entry of a list. */
export function keyPaths(schema: JsonSchema, path = ''): ReadonlyMap<string, JsonSchema> {
  const { anyOf } = schema;
  // Of alternatives, the first that has keys or entries counts.
  const forms = (Array.isArray(anyOf) ? anyOf : [schema]).filter(isPlainObject);
  const { properties = {}, items } = forms.find((one) => 'properties' in one || 'items' in one) ?? {};
  const found = new Map(isPlainObject(items) ? keyPaths(items, `${path}[]`) : []);
  for (const [name, below] of Object.entries(properties as Readonly<Record<string, JsonSchema>>)) {
    const key = path === '' ? name : `${path}.${name}`;
    for (const [one, itsSchema] of [[key, below] as const, ...keyPaths(below, key)]) found.set(one, itsSchema);
  }
  return found;
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
  return [...settingsBelow(profile, DEFAULT_PROFILE, '')].map(([key, value, byDefault]) => {
    const description = schema.get(key)?.['description'];
    const words = typeof description === 'string' ? description : '';
    const differs = JSON.stringify(value) !== JSON.stringify(byDefault);
    return { key, words, value: shownSetting(value, key), default: byDefault, differs };
  });
}

function* settingsBelow(
  values: Record<string, unknown>,
  defaults: Record<string, unknown>,
  above: string,
): Generator<readonly [key: string, value: unknown, byDefault: unknown]> {
  for (const [name, byDefault] of Object.entries(defaults)) {
    const value = values[name];
    if (isPlainObject(value) && isPlainObject(byDefault) && Object.keys(byDefault).length > 0)
      yield* settingsBelow(value, byDefault, `${above}${name}.`);
    else yield [above + name, value, byDefault];
  }
}

/** Texts at these places, and texts that begin like these, may be secret. */
const SECRET_PLACE = /^requests\.(?:headers|\w+\.body)$/;
const SECRET_TEXT = /^(?:sk_|pk_|whsec_|bearer |basic )./i;

/** Hides the texts of a setting that may be secret. Placeholders of a template stay. */
function shownSetting(value: unknown, key: string): unknown {
  const isSecret = (text: string): boolean => SECRET_PLACE.test(key) || SECRET_TEXT.test(text);
  const isShown = (one: unknown): boolean => typeof one !== 'string' || /^\{[^{}]*\}$/.test(one) || !isSecret(one);
  return JSON.parse(JSON.stringify(value), (_, one: unknown) => (isShown(one) ? one : '(not shown)'));
}
