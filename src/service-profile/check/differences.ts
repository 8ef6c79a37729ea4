import { isPlainObject } from '../../domain/plain-object.ts';
import { DEFAULT_PROFILE } from '../default-profile.ts';
import type { ServiceProfile } from '../profile.ts';
import { settingAt, settingKeys } from '../settings.ts';
import { pathText, type ProfilePath } from './profile-mistake.ts';
import { NOT_SHOWN } from './secret-texts.ts';
import { isSecret } from './shown-value.ts';

/** A setting that two profiles set otherwise. */
export interface SettingDifference {
  /** `signature.header`. */
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A setting of a profile that is not the default. */
export interface ProfileDifference {
  /** `signature.header`. */
  readonly key: string;
  readonly value: unknown;
  readonly default: unknown;
}

/** What a profile sets otherwise than the default, in the order of the schema; texts that may be secret are not shown. */
export function differencesFromDefault(profile: ServiceProfile): readonly ProfileDifference[] {
  return differencesBetween(DEFAULT_PROFILE, profile).map(({ key, after }) => ({
    key,
    value: shownSetting(after, key.split('.')),
    default: settingAt(DEFAULT_PROFILE, key),
  }));
}

/** What the second profile sets otherwise than the first, in the order of the schema; the values as they are. */
export function differencesBetween(before: ServiceProfile, after: ServiceProfile): readonly SettingDifference[] {
  return settingKeys()
    .map((key) => ({ key, before: settingAt(before, key), after: settingAt(after, key) }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
}

/** The value of a setting without the texts in it that may be secret; prefixes and encodings of a secret are none themselves. */
function shownSetting(value: unknown, path: ProfilePath): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => shownSetting(one, path));
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shownSetting(one, [...path, key])]));
  if (typeof value !== 'string') return value;
  const place = pathText(path);
  if (place === 'webhook.secret' || place.startsWith('signature.secret.')) return value;
  return isSecret(value, path) && !/^\{[^{}]*\}$/.test(value) ? NOT_SHOWN : value;
}
