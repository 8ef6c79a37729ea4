import type { Document } from '../place.ts';
import { leavesOf } from './leaves.ts';

/** A place of the answer to the registration at which a secret may stand. */
export interface SecretPlace {
  readonly place: string;
  readonly secret: string;
}

const KEYS: readonly (readonly [RegExp, number])[] = [
  [/secret/, 100],
  [/sign/, 90],
  [/token/, 70],
  [/key$/, 60],
  [/password/, 50],
];

/** Where the secret of the webhook may stand, the likeliest first. */
export function secretPlaces(registered: Document): readonly SecretPlace[] {
  return leavesOf(registered.body)
    .flatMap(({ key, place, value }) => {
      const score = KEYS.find(([pattern]) => pattern.test(key))?.[1];
      if (score === undefined || typeof value !== 'string' || value.length < 8 || value.length > 4_096) return [];
      return [{ place, secret: value, score }];
    })
    .toSorted((one, other) => other.score - one.score)
    .slice(0, 5);
}
