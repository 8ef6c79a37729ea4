import { isPlainObject } from '../../domain/plain-object.ts';
import { DEFAULT_PROFILE } from '../default-profile.ts';
import type { ServiceProfile } from '../profile.ts';
import { pathText, type ProfilePath } from './profile-mistake.ts';
import { isSecret } from './shown-value.ts';

/** A setting of a profile that is not the default. */
export interface ProfileDifference {
  /** `signature.header`. */
  readonly key: string;
  readonly value: unknown;
  readonly default: unknown;
}

const NOT_SHOWN = '(not shown)';

/** What a profile sets otherwise than the default, in the order of the schema; texts that may be secret are not shown. */
export function differencesFromDefault(profile: ServiceProfile): readonly ProfileDifference[] {
  return differencesIn(profile, DEFAULT_PROFILE, []);
}

function differencesIn(value: unknown, byDefault: unknown, path: ProfilePath): readonly ProfileDifference[] {
  if (isPlainObject(value) && isPlainObject(byDefault) && Object.keys(byDefault).length > 0)
    return Object.keys(byDefault).flatMap((key) => differencesIn(value[key], byDefault[key], [...path, key]));
  if (JSON.stringify(value) === JSON.stringify(byDefault)) return [];
  return [{ key: pathText(path), value: masked(value, path), default: byDefault }];
}

/** The prefixes and encodings of a secret are none themselves. */
function masked(value: unknown, path: ProfilePath): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => masked(one, path));
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, masked(one, [...path, key])]));
  if (typeof value !== 'string') return value;
  const place = pathText(path);
  if (place === 'webhook.secret' || place.startsWith('signature.secret.')) return value;
  return isSecret(value, path) && !/^\{[^{}]*\}$/.test(value) ? NOT_SHOWN : value;
}
