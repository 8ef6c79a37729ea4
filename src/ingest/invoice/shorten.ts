const HALF_PAIR = /\p{Surrogate}$/u;

/**
 * The beginning of a text from a file, for a message or a proof. It never ends with half of a surrogate pair: PostgreSQL refuses JSON
 * that holds one.
 */
export function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : text.slice(0, longest).replace(HALF_PAIR, '');
}
