/**
 * `{1,"a \"b\"",NULL}`: an array parameter as text, so that both drivers send exactly the same. NUL cannot be stored in
 * PostgreSQL text; it becomes U+FFFD here (ingest has refused it in every value that is sent).
 */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  let literal = '{';
  let first = true;
  for (const value of values) {
    literal += first ? element(value) : `,${element(value)}`;
    first = false;
  }
  return `${literal}}`;
}

/** One column of a set statement. */
export function column<Item>(items: readonly Item[], pick: (item: Item) => string | number | boolean | null): string {
  return arrayLiteral(items.map(pick));
}

function element(value: string | number | boolean | null): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `"${storableText(value).replace(/["\\]/g, '\\$&')}"`;
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(`Writing to the ledger: expected a whole number, found ${value}`);
  }
  return String(value);
}

/** Text without NUL, which no PostgreSQL text can hold. */
function storableText(text: string): string {
  return text.includes('\u0000') ? text.replaceAll('\u0000', '\uFFFD') : text;
}
