/** Latin letters with accents, as names of Europe and the Americas have them. */
const ACCENTED = { first: 0xc0, last: 0x24f };
/** An accent that stands behind its letter as a character of its own. */
const ACCENT = '[\u0300-\u036F]';
const SPACE = '[[:space:]\u00A0\u202F]+';

/** By base letter: the letter and everything that is it with an accent, in both cases. */
const VARIANTS: ReadonlyMap<string, string> = variants();

/**
 * A pattern of PostgreSQL's regular expressions that finds these words as a part of a text, whatever accents and capitals
 * either has. It names the letters itself: what the database takes for a letter depends on its locale, and PGlite has none.
 */
export function wordPattern(words: string): string {
  return words
    .normalize('NFD')
    .replaceAll(new RegExp(ACCENT, 'gu'), '')
    .trim()
    .split(/\s+/u)
    .map((word) => Array.from(word, characterPattern).join(''))
    .join(SPACE);
}

/** The same within a name or a tax number of the JSON of `invoice_content`. */
export function namePattern(words: string): string {
  return `"(name|legalName|taxId)":"([^"\\\\]|\\\\.)*${wordPattern(words)}`;
}

function characterPattern(character: string): string {
  const known = VARIANTS.get(character.toLowerCase());
  if (known !== undefined) return `[${known}]${ACCENT}?`;
  const lower = character.toLowerCase();
  const upper = character.toUpperCase();
  // A capital of two letters (ß: SS) is left as it is written.
  if (lower !== upper && isOne(upper) && isOne(lower)) return `[${lower}${upper}]`;
  // As JSON has it, and without a meaning of its own.
  return JSON.stringify(character)
    .slice(1, -1)
    .replaceAll(/[^\p{L}\p{N}\s]/gu, (sign) => `\\${sign}`);
}

function isOne(text: string): boolean {
  return Array.from(text).length === 1;
}

function variants(): Map<string, string> {
  const found = new Map<string, string>();
  for (let code = ACCENTED.first; code <= ACCENTED.last; code += 1) {
    const letter = String.fromCodePoint(code);
    const base = letter.normalize('NFD').toLowerCase().charAt(0);
    if (!/^[a-z]$/u.test(base) || letter.normalize('NFD') === letter) continue;
    found.set(base, (found.get(base) ?? base + base.toUpperCase()) + letter);
  }
  return found;
}
