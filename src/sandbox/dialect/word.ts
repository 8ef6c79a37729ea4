/** A word as services write it in JSON: numbers and true/false as such, everything else as text. */
export function wordToken(word: string): string | number | boolean {
  if (word === 'true' || word === 'false') return word === 'true';
  return /^-?\d{1,15}$/.test(word) && String(Number(word)) === word ? Number(word) : word;
}

/** Whether what stands there is one of the words; case and white space around do not count. */
export function isWord(value: unknown, words: readonly string[]): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return false;
  const found = String(value).trim().toLowerCase();
  return found !== '' && words.some((word) => word.trim().toLowerCase() === found);
}

const OTHERS = ['processing', 'pending', 'queued', 'accepted', 'in_progress'];
const MOST_TRIES = 1_000;

/** A word that is none of those given, and of their kind: another number, the opposite of true, or `processing`. */
export function otherWord(words: readonly string[], like = OTHERS): string {
  const isFree = (word: string): boolean => !isWord(word, words);
  if (words.every((word) => word === 'true' || word === 'false')) {
    const opposite = ['false', 'true'].find(isFree);
    if (opposite !== undefined) return opposite;
  }
  const numbers = Array.from({ length: MOST_TRIES }, (_, index) => String(index + 1));
  const isCounted = words.every((word) => typeof wordToken(word) === 'number');
  const found = (isCounted ? numbers : [...like, ...numbers.map((number) => `${like[0] ?? ''}_${number}`)]).find(
    isFree,
  );
  return found ?? `${words.join('_')}_`;
}
