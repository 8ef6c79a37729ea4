/** `{n} of {of}` with its words. A place without a word stays: a test finds it sooner than a reader. */
export function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/gu, (place, name: string) => words[name] ?? place);
}

/**
 * The form of a text for a number. The three languages know two; their "many" (millions) reads like "other" here. Portuguese as in
 * Portugal, where none is a plural.
 */
export function pluralForm({ one, other }: Plural, n: number, language: string): string {
  return new Intl.PluralRules(language === 'pt' ? 'pt-PT' : language).select(n) === 'one' ? one : other;
}

/** A text with a number in it (`{n}`), and at times other words (`{of}`). */
export interface Plural {
  readonly one: string;
  readonly other: string;
}
