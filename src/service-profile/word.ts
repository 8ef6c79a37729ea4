/** The word at a place: text, number or true/false as trimmed text; null: none of them. */
export function wordAt(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const word = String(value).trim();
  return word === '' ? null : word;
}

/** Services write `ISSUED`, `Issued` and `issued` for the same thing. */
export function sameWord(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Whether one of the words of the profile stands there. */
export function isOneOf(value: unknown, words: readonly string[]): boolean {
  const found = wordAt(value);
  return found !== null && words.some((word) => sameWord(word, found));
}
