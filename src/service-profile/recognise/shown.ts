/** Longer numbers may be somebody's tax number. */
const LONG_NUMBER = /\d{6,}/;
const WORD = /^[\p{L}\p{N}_.:/\\-]{1,60}$/u;
const SECRET = /^(?:sk_|pk_|whsec_|bearer |basic )/i;

/** A word of the service in evidence: words for programs as they are, of everything else its kind and length. */
export function shownWord(value: unknown): string {
  if (typeof value === 'boolean' || value === null) return String(value);
  if (typeof value === 'number') return Math.abs(value) < 1_000_000 ? String(value) : `a number of ${digits(value)}`;
  if (typeof value !== 'string') return 'no word';
  return isWord(value) ? JSON.stringify(value) : `a text of ${value.length} characters`;
}

/** Whether a text is a word for programs, and nothing that must be hidden. */
export function isWord(text: string): boolean {
  return WORD.test(text) && !LONG_NUMBER.test(text) && !SECRET.test(text) && !text.includes('@');
}

/** An id in evidence: its form alone. */
export function shownId(value: unknown): string {
  if (typeof value === 'number') return `a number of ${digits(value)}`;
  const text = String(value);
  const prefix = /^[A-Za-z]{1,8}[_-]/.exec(text)?.[0];
  if (/^(?:https?:\/\/|\/)/i.test(text) || text.includes('/')) return 'an address that ends with it';
  return prefix === undefined ? `a text of ${text.length} characters` : JSON.stringify(`${prefix}…`);
}

/** One line without control characters: it becomes a comment. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 300);
}

function digits(value: number): string {
  const { length } = String(Math.trunc(Math.abs(value)));
  return `${length} ${length === 1 ? 'digit' : 'digits'}`;
}
