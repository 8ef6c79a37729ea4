/**
 * `{1,"a \"b\"",NULL}`: an array parameter as text, so that both drivers send exactly the same. NUL cannot be stored in
 * PostgreSQL text; it becomes U+FFFD here (ingest has refused it in every value that is sent).
 */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  return column(values, (value) => value);
}

/** One column of a set statement. */
export function column<Item>(items: readonly Item[], pick: (item: Item) => string | number | boolean | null): string {
  let literal = '';
  for (const item of items) literal += literal === '' ? element(pick(item)) : `,${element(pick(item))}`;
  return `{${literal}}`;
}

function element(value: string | number | boolean | null): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(`Writing to the ledger: expected a whole number, found ${value}`);
  }
  return String(value);
}

/** What JSON writes otherwise than an array literal: control characters, of which JSON names some by a letter, and lone halves of characters. */
const UNLIKE_JSON = /[^ -\uD7FF\uE000-\uFFFF]/;

/** Without those, a text in an array literal is what JSON makes of it, which V8 writes several times faster than a replacement does. */
function quoted(text: string): string {
  if (!UNLIKE_JSON.test(text)) return JSON.stringify(text);
  return `"${storableText(text).replace(/["\\]/g, '\\$&')}"`;
}

/** Text without NUL, which no PostgreSQL text can hold. */
function storableText(text: string): string {
  return text.includes('\u0000') ? text.replaceAll('\u0000', '\uFFFD') : text;
}
