/** `{n} of {of}` with its words. A place without a word stays: a test finds it sooner than a reader. */
export function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/gu, (place, name: string) => words[name] ?? place);
}

/** A text with a number in it (`{n}`), and in brackets the words that depend on it: `{n} [invoice|invoices]`. */
export type Plural = string;

/** The text with its words for a number, the first of each pair for one. Portuguese as in Portugal, where none is a plural. */
export function pluralForm(text: Plural, n: number, language: string): string {
  const isOne = new Intl.PluralRules(language === 'pt' ? 'pt-PT' : language).select(n) === 'one';
  return text.replaceAll(/\[([^|\]]*)\|([^\]]*)\]/gu, (_, one: string, other: string) => (isOne ? one : other));
}

/** Line ends, what a terminal takes for a command, and what turns the words behind it around. */
const LEADING_ASTRAY = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** A text on one line, such as a file's name, that changes nothing of what stands beside it. */
export function plainText(text: string): string {
  return text.replaceAll(LEADING_ASTRAY, ' ');
}
