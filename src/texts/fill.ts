/** Replaces the places of a text such as `{n} of {of}`. A place without a word stays, so that a test finds it. */
export function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/gu, (place, name: string) => words[name] ?? place);
}

/** A text with a number (`{n}`), and in brackets the words that depend on it: `{n} [invoice|invoices]`. */
export type Plural = string;

/** Chooses the words for a number, the first of each pair for one. In Portuguese as in Portugal, 0 takes the plural. */
export function pluralForm(text: Plural, n: number, language: string): string {
  const isOne = new Intl.PluralRules(language === 'pt' ? 'pt-PT' : language).select(n) === 'one';
  return text.replaceAll(/\[([^|\]]*)\|([^\]]*)\]/gu, (_, one: string, other: string) => (isOne ? one : other));
}

/** Line ends, control characters of a terminal, and characters that reverse the text after them. */
const LEADING_ASTRAY = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** Puts a text such as a file's name on one line, without characters that change the text beside it. */
export function plainText(text: string): string {
  return text.replaceAll(LEADING_ASTRAY, ' ');
}
