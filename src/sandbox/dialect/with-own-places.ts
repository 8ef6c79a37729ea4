import { profileDialect } from './profile-dialect.ts';
import { UnspeakableProfile } from './unspeakable.ts';

/** A profile that the sandbox can speak. */
export interface OwnPlaces<Profile> {
  readonly profile: Profile;
  /** Keys that hold expressions, before which a place of the sandbox's own now stands. */
  readonly keys: readonly string[];
}

/**
 * Puts places of the sandbox's own before expressions, at which it could write nothing. The profile is whole: every key is there.
 * @throws UnspeakableProfile when the sandbox cannot speak it even so.
 */
export function withOwnPlaces<Profile extends object>(profile: Profile): OwnPlaces<Profile> {
  const added = ownPlacesFor(profile);
  const copy = structuredClone(profile);
  for (const { key, place } of added) prepend(copy, key.split('.'), place);
  if (added.length > 0) profileDialect(JSON.stringify(copy));
  return { profile: copy, keys: added.map(({ key }) => key) };
}

function ownPlacesFor(profile: object): readonly { readonly key: string; readonly place: string }[] {
  try {
    profileDialect(JSON.stringify(profile));
    return [];
  } catch (error) {
    if (!(error instanceof UnspeakableProfile) || error.keys.some(({ ownPlace }) => ownPlace === null)) throw error;
    return error.keys.flatMap(({ ownPlace }) => ownPlace ?? []);
  }
}

function prepend(profile: object, [step = '', ...rest]: readonly string[], place: string): void {
  const here = profile as Record<string, unknown>;
  const below = here[step];
  if (rest.length > 0 && typeof below === 'object' && below !== null) prepend(below, rest, place);
  else here[step] = [place, ...[below].flat()];
}
