/** More are forgotten, the oldest first: a capture is bounded, and so is what it remembers. */
const MOST = 5_000;
const SHORTEST = 3;
const LONGEST = 500;

/** Texts that were seen where names and tax numbers stand, to be found wherever else they are quoted. */
export interface PrivateValues {
  note(value: unknown): void;
  has(text: string): boolean;
  /** Every occurrence in a text, in any case, replaced. */
  replaceIn(text: string, replace: (found: string) => string): string;
}

/** Makes an empty set. */
export function createPrivateValues(): PrivateValues {
  const values = new Set<string>();
  return {
    note(value) {
      if (typeof value !== 'string' && typeof value !== 'number') return;
      const text = String(value).trim().toLowerCase();
      if (text.length < SHORTEST || text.length > LONGEST) return;
      // Seen again: it is the newest.
      values.delete(text);
      values.add(text);
      const oldest = values.size > MOST ? values.values().next().value : undefined;
      if (oldest !== undefined) values.delete(oldest);
    },
    has: (text) => values.has(text.trim().toLowerCase()),
    replaceIn(text, replace) {
      // In a few scripts the lower case has another length, so that nothing can be found by position.
      if (text.toLowerCase().length !== text.length) return replace(text);
      let result = text;
      for (const value of values) {
        for (let at = result.toLowerCase().indexOf(value); at >= 0;) {
          const other = replace(result.slice(at, at + value.length));
          result = result.slice(0, at) + other + result.slice(at + value.length);
          at = result.toLowerCase().indexOf(value, at + other.length);
        }
      }
      return result;
    },
  };
}
