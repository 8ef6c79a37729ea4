/** An error of a service is a sentence or a few; what is deeper, or further back, is left out. */
const DEEPEST = 4;
const MOST_TEXTS = 5;

/**
 * What an error says, as one text: a text or number as it is; of a list or an object its first texts, each after the name of its field. Null: nothing.
 * Services write `{"errors":[{"detail":"…"}]}` and `{"errors":{"nif":["…"]}}` for the same thing.
 */
export function errorText(value: unknown): string | null {
  const texts: string[] = [];
  collect(value, { field: null, depth: 0, texts });
  return texts.length === 0 ? null : texts.join('; ');
}

interface Place {
  readonly field: string | null;
  readonly depth: number;
  readonly texts: string[];
}

function collect(value: unknown, { field, depth, texts }: Place): void {
  if (texts.length >= MOST_TEXTS || depth > DEEPEST) return;
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim();
    if (text !== '') texts.push(field === null ? text : `${field}: ${text}`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const entries: readonly (readonly [string | null, unknown])[] = Array.isArray(value)
    ? value.slice(0, MOST_TEXTS).map((item: unknown) => [field, item])
    : Object.entries(value).slice(0, MOST_TEXTS * 2);
  for (const [name, below] of entries) collect(below, { field: name, depth: depth + 1, texts });
}
