import { pathText, type ProfilePath } from './profile-mistake.ts';

const LONGEST_SHOWN = 40;
/** What stands there may be a secret, or was mistaken for the place of one. */
const SECRET_PLACE = /^(?:requests\.headers|requests\.\w+\.body|webhook\.secret|signature\.secret)(?:\.|$)/;
const SECRET_TEXT = /^(?:sk_|pk_|whsec_|bearer |basic )/i;

/** A value of the file in a message: short, and never a secret. */
export function shownValue(value: unknown, path: ProfilePath): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return JSON.stringify(value);
  if (isSecret(value, path)) return 'a text that is not shown here';
  return JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value);
}

/** Whether a text must not stand in a message or on a screen. */
export function isSecret(text: string, path: ProfilePath): boolean {
  return SECRET_PLACE.test(pathText(path)) || SECRET_TEXT.test(text);
}
