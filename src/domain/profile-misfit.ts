import { cut, oneLine } from './text/one-line.ts';

/** A finding of a running Lote: the service profile does not fit the service, or the secret does not fit its deliveries. */
export interface ProfileMisfit {
  /** Kebab case, such as `deliveries-refused`. */
  readonly code: string;
  /** What Lote saw and what the profile would need: at most 400 characters, without secrets and personal data. */
  readonly message: string;
  /** How often Lote saw it. */
  readonly times: number;
  /** Epoch milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
}

const LONGEST_MESSAGE = 400;
const LONGEST_WORD = 40;

/** Returns the message in one line of at most 400 characters. */
export function misfitMessage(text: string): string {
  return oneLine(text, LONGEST_MESSAGE);
}

/**
 * Returns a word of the service in at most 40 characters. Shows only the shape of a word that has more than four digits
 * in a row or other characters than letters, digits, `.`, `_`, `:`, `/` and `-`, because it may name a person.
 */
export function shownWord(word: string): string {
  if (/\d{5}/.test(word) || !/^[\p{L}\d._:/-]+$/u.test(word)) return `(a text of ${word.length} characters)`;
  return `"${cut(word, LONGEST_WORD)}"`;
}
