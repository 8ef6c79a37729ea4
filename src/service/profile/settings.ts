import { isPlainObject } from '../../domain/json-pointer.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import { keyPaths, profileJsonSchema } from './json-schema.ts';
import { pathText, type ProfilePath } from './check-profile.ts';
import type { ServiceProfile } from './profile.ts';

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
function shownSetting(value: unknown, path: ProfilePath): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => shownSetting(one, path));
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shownSetting(one, [...path, key])]));
  if (typeof value !== 'string') return value;
  const place = pathText(path);
  // The prefix of a secret, such as `whsec_`, is not secret itself.
  const isSecret = SECRET_PLACE.test(place) || (SECRET_TEXT.test(value) && !place.startsWith('signature.secret.'));
  return isSecret && !/^\{[^{}]*\}$/.test(value) ? '(not shown)' : value;
}
