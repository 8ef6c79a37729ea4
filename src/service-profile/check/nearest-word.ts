import { distance } from 'fastest-levenshtein';

/** Longer words are no slip of the pen, and comparing them costs time. */
const LONGEST_WORD = 100;

/** The valid word that was most probably meant; null: none is near. Case, "_" and "-" do not count. */
export function nearestWord(word: string, valid: readonly string[]): string | null {
  if (word.length > LONGEST_WORD) return null;
  const typed = bare(word);
  let nearest: string | null = null;
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const one of valid) {
    const steps = distance(typed, bare(one));
    if (steps < least) [nearest, least] = [one, steps];
  }
  return nearest;
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '');
}
