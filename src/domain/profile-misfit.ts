/** What a running Lote has found where the service profile does not fit the service, or the secret its deliveries. */
export interface ProfileMisfit {
  /** Kebab case, such as `deliveries-refused`. */
  readonly code: string;
  /** What was seen and what it would take: at most 400 characters, without secrets and personal data. */
  readonly message: string;
  /** How often it was seen. */
  readonly times: number;
  /** Epoch milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
}

const LONGEST_MESSAGE = 400;
const LONGEST_WORD = 40;
// Control and format characters (also those that turn the direction of text around) and line ends.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

/** The message in one line of at most 400 characters. */
export function misfitMessage(text: string): string {
  const line = text.replaceAll(UNPRINTABLE, ' ').replaceAll(/\s+/g, ' ').trim();
  return cut(line, LONGEST_MESSAGE);
}

/**
 * A word of the service as a message may show it: at most 40 characters, and what is no plain word (letters, digits,
 * `.`, `_`, `:`, `/`, `-`), or holds more than four digits in a row, by its shape alone, because it may name a person.
 */
export function shownWord(word: string): string {
  if (/\d{5}/.test(word) || !/^[\p{L}\d._:/-]+$/u.test(word)) return `(a text of ${word.length} characters)`;
  return `"${cut(word, LONGEST_WORD)}"`;
}

function cut(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
