import { isPlainObject } from '../domain/plain-object.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import { keyPaths, profileJsonSchema } from './json-schema.ts';
import type { ServiceProfile } from './profile.ts';

/** One setting of a profile: what is merged as a whole, be it a value, a list or an object without a default of its own. */
export interface Setting {
  /** `signature.header`. */
  readonly key: string;
  /** What it means, in English with Markdown's backticks; the table of keys in docs/service-profile.md has the same words. */
  readonly words: string;
  readonly value: unknown;
  readonly default: unknown;
  /** The keys inside it, such as `answers.rules[].means`, with their words. */
  readonly parts: readonly { readonly key: string; readonly words: string }[];
}

let keysOnce: readonly string[] | null = null;

/** The keys of all settings, in the order of the schema. */
export function settingKeys(): readonly string[] {
  return (keysOnce ??= keysBelow(DEFAULT_PROFILE, ''));
}

/** The value of a setting in a profile. */
export function settingAt(profile: ServiceProfile, key: string): unknown {
  let here: unknown = profile;
  for (const step of key.split('.')) here = isPlainObject(here) ? here[step] : undefined;
  return here;
}

/** Every setting of a profile with its words. */
export function settingsOf(profile: ServiceProfile): readonly Setting[] {
  const words = [...keyPaths(profileJsonSchema())].map(([key, { description }]) => ({
    key,
    words: typeof description === 'string' ? description : '',
  }));
  return settingKeys().map((key) => ({
    key,
    words: words.find((one) => one.key === key)?.words ?? '',
    value: settingAt(profile, key),
    default: settingAt(DEFAULT_PROFILE, key),
    parts: words.filter((one) => one.key.startsWith(`${key}.`) || one.key.startsWith(`${key}[]`)),
  }));
}

/** What a section means: `signature`; empty: it is none. */
export function sectionWords(section: string): string {
  const description = keyPaths(profileJsonSchema()).get(section)?.['description'];
  return typeof description === 'string' && isPlainObject(settingAt(DEFAULT_PROFILE, section)) ? description : '';
}

function keysBelow(value: Readonly<Record<string, unknown>>, prefix: string): readonly string[] {
  return Object.entries(value).flatMap(([name, one]) =>
    isPlainObject(one) && Object.keys(one).length > 0 ? keysBelow(one, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}
